/*
 * sequence_find.h - the reader of sequence.h: a look into a bucket without its lock. The cache
 * includes it where it has instantiated its table, and says how a reference is taken.
 *
 * The order is what keeps it right. The reader takes the reference first, and then looks whether
 * the bucket has changed; who takes an object out says first that it changes, and then looks at the
 * references. So of two that meet, one at least sees the other: the reader lets go, or the object
 * stays.
 */

/*
 * Look @key up in @bucket. true: *@found is what was there, with the reference that @take gave, or
 * NULL: nothing was. false: the bucket has changed meanwhile, or @take had no reference to give,
 * so nothing is known; the caller lets go of *@found, unless it is NULL, and looks with the lock.
 *
 * @compare reads what may be changing. @take is fully ordered where it succeeds. *@steps grows by
 * the objects visited. Does not sleep.
 */
static __always_inline bool T(find_unlocked)(
	struct TABLE *table, struct T(root) *root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), bool (*take)(TABLE_OBJECT *),
	u64 *steps, TABLE_OBJECT **found)
{
	const seqcount_t *changes = T(changes)(&table->locks, bucket);
	u32 begun = read_seqcount_begin(changes);
	TABLE_OBJECT *object = T(find)(table, root, bucket, key, compare, steps);

	*found = NULL;
	if (object && unlikely(!take(object)))
		return false;
	*found = object;
	return likely(!read_seqcount_retry(changes, begun));
}

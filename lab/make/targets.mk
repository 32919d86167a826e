.PHONY: clean
clean:
	rm -rf build

"""make iso: one ISO that boots by GRUB and multiboot2, under BIOS and UEFI alike."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.build.kernel import effective_config, kernel_image
from lab.guest.image import cpio_image
from lab.guest.tree import base_tree

FIRMWARE = (
    "/usr/share/ovmf/OVMF.fd",
    "/usr/share/OVMF/OVMF_CODE.fd",
    "/usr/share/edk2/ovmf/OVMF_CODE.fd",
    "/usr/share/edk2/x64/OVMF_CODE.fd",
)


def uefi_firmware() -> Path:
    """OVMF, wherever this distribution keeps it."""
    for name in FIRMWARE:
        if Path(name).exists():
            return Path(name)
    raise LabError("no UEFI firmware: install ovmf")


def make_iso(output: Path, cmdline: str = "") -> Path:
    """Kernel, an initial RAM disk with the base system, and GRUB, as @output."""
    if shutil.which("grub-mkrescue") is None:
        raise LabError(
            "grub-mkrescue is missing: install grub-common, grub-pc-bin, grub-efi-amd64-bin, xorriso, mtools"
        )
    words = ["root=tmpfs", "init=/init", effective_config().get("CMDLINE", ""), cmdline]
    line = " ".join(word for word in words if word)
    with tempfile.TemporaryDirectory(prefix="cw-iso-") as name:
        boot = Path(name) / "boot"
        (boot / "grub").mkdir(parents=True)
        shutil.copyfile(kernel_image(), boot / "chainwalk")
        shutil.copyfile(cpio_image(base_tree()), boot / "initrd")
        shutil.copyfile(TOP / "boot" / "grub.cfg", boot / "grub" / "grub.cfg")
        (boot / "cmdline.cfg").write_text(f'set cmdline="{line}"\n')
        command = ["grub-mkrescue", "--locales=", "--fonts=", "--themes=", "-o", str(output), name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise LabError(f"grub-mkrescue failed:\n{result.stderr.strip()}")
    return output

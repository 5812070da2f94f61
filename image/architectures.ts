import process from 'node:process';

/** A processor architecture that the image is built for. */
export interface Architecture {
  /** As images and Debian call it. */
  readonly name: string;
  /** As Node calls it. */
  readonly nodeName: string;
  /** The folder of its libraries in Debian. */
  readonly triplet: string;
  /** The program that runs its programs on other machines. */
  readonly emulator: string;
}

const ARCHITECTURES: readonly Architecture[] = [
  {
    name: 'amd64',
    nodeName: 'x64',
    triplet: 'x86_64-linux-gnu',
    emulator: 'qemu-x86_64-static',
  },
  {
    name: 'arm64',
    nodeName: 'arm64',
    triplet: 'aarch64-linux-gnu',
    emulator: 'qemu-aarch64-static',
  },
];

/** The name of this machine's architecture. */
export const MACHINE_ARCHITECTURE =
  ARCHITECTURES.find(({ nodeName }) => nodeName === process.arch)?.name ?? process.arch;

/** Finds an architecture by its name. Throws if the image is not built for it. */
export function findArchitecture(name: string): Architecture {
  const found = ARCHITECTURES.find((architecture) => architecture.name === name);
  if (found !== undefined) return found;
  const names = ARCHITECTURES.map((architecture) => architecture.name).join(' and ');
  throw new Error(`the image is built for ${names}, and not for ${name}`);
}

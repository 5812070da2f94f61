import { runProgram } from '../run-program.ts';

/** What an ELF file is linked to. */
export interface Linkage {
  /** Names of shared libraries. */
  readonly libraries: readonly string[];
  /** The path of the loader. Empty for a library. */
  readonly loader: string;
}

/** Reads what a program or library is linked to, of any architecture. */
export async function linkageOf(file: string): Promise<Linkage> {
  const printed = await runProgram('eu-readelf', ['--dynamic', '--program-headers', file]);
  const libraries = [...printed.matchAll(/NEEDED\s+Shared library: \[(.+)\]/g)];
  return {
    libraries: libraries.flatMap(([, name]) => name ?? []),
    loader: /Requesting program interpreter: (.+)\]/.exec(printed)?.[1] ?? '',
  };
}

import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, 'moved-clock.c');
const OFFSET_BYTES = 8;

/** A clock of programs that a test moves. */
export interface MovedClock {
  /** Environment of a program that uses the clock. */
  readonly environment: Readonly<Record<string, string>>;
  advance(seconds: number): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Makes a clock that shows the right time at first. Its file is in that directory. */
export function createMovedClock(directory: string): MovedClock {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'clock');
  let offsetMs = 0;
  const write = (): void => {
    const bytes = Buffer.alloc(OFFSET_BYTES);
    // Redis runs only where the byte order is little-endian: x64 and arm64.
    bytes.writeBigInt64LE(BigInt(offsetMs));
    // Written in place: programs have the file mapped, and truncating it would kill them.
    writeFileSync(file, bytes, { flag: existsSync(file) ? 'r+' : 'w' });
  };
  write();
  return {
    environment: { LD_PRELOAD: compiledShim(), MOVED_CLOCK_FILE: file },
    advance: (seconds) => {
      offsetMs += Math.round(seconds * 1000);
      write();
    },
    now: () => Date.now() + offsetMs,
  };
}

/** Compiles the library once for each content of the source. */
function compiledShim(): string {
  const hash = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16);
  const directory = join(tmpdir(), 'gatehouse-tests');
  const library = join(directory, `moved-clock-${hash}.so`);
  if (existsSync(library)) return library;
  mkdirSync(directory, { recursive: true });
  const unfinished = join(directory, `${randomUUID()}.so`);
  execFileSync('cc', ['-O2', '-shared', '-fPIC', '-Wall', '-Werror', '-o', unfinished, SOURCE]);
  // Several test processes may compile at once; each of them puts the same whole file there.
  renameSync(unfinished, library);
  return library;
}

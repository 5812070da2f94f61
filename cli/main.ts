#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const EXIT_FAILED = 1;

// Compiled code is kept beside the dependencies, which only users who may change this program can write.
// Attack: in a shared folder such as /tmp, other users of the machine could place their own code.
// If the folder cannot be written, as in a read-only image, every start compiles.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/gatehouse'));

// The reader may close the pipe early: `gatehouse validate -f . | head`.
process.stdout.on('error', () => process.exit(EXIT_FAILED));

// Loaded from here on, so that all of it comes from the cache.
const { runCommandLine } = await import('./run-command-line.ts');
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});

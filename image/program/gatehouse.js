#!/usr/local/bin/node --enable-source-maps
// The command `gatehouse` of the image, in place of cli/gatehouse.js.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

const SIGNALS = { SIGINT: 130, SIGTERM: 143 };

// A container's first process gets no signal that it does not handle. Until a command handles them, or if it
// never does, they end the process as they do outside of containers.
for (const [signal, code] of Object.entries(SIGNALS)) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(code);
  });
}

// The image brings the compiled code of what its commands load at a start. A portable cache holds for any
// user and place. Nothing can write to it in a read-only image, and nothing has to.
enableCompileCache({ directory: join(import.meta.dirname, '../compile-cache'), portable: true });
await import('../../cli/main.ts');

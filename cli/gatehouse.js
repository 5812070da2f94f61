#!/usr/bin/env node
// The command `gatehouse`. `node main.ts` does the same, and takes longer to start: a program in TypeScript
// is not in the compile cache, and Node loads its compiler for it.
import process from 'node:process';

const OLDEST_NODE = 24;

// No file of ours is loaded before this: an older Node cannot read them, and would show a stack trace.
if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `gatehouse: needs Node ${String(OLDEST_NODE)} or newer, and this is ${process.versions.node}; in a checkout on Linux, node_modules/.bin/node is one\n`,
  );
  process.exit(1);
}

await import('./compile-cache.js');
await import('./main.ts');

#!/usr/bin/env node
// The command `gatehouse`. It is `node main.ts`, which starts later: a program in TypeScript is not in
// the compile cache, and Node loads its compiler for it.
import './compile-cache.js';

await import('./main.ts');

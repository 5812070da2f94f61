// Usage: node [FLAG]... load-into-cache.js FOLDER FILE...
// Loads files of a program, and writes their compiled code to the folder that the program reads it from.
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';

const [folder = '', ...files] = process.argv.slice(2);
// V8 takes compiled code only from a process with the same flags, and the program runs with none. Those of this process
// have had their effect.
for (const flag of process.execArgv) setFlagsFromString(flag.replace(/=.*/, '=0'));
enableCompileCache({ directory: join(folder, 'compile-cache'), portable: true });
for (const file of files) await import(join(folder, file));
flushCompileCache();
// Some modules begin to listen or wait when they are loaded.
process.exit();

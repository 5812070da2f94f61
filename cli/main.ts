import './compile-cache.js';

const EXIT_FAILED = 1;

// The reader may close the pipe early: `gatehouse validate -f . | head`.
process.stdout.on('error', () => process.exit(EXIT_FAILED));

// Loaded from here on, so that all of it comes from the cache.
const [{ runCommandLine }, { programName }] = await Promise.all([
  import('./run-command-line.ts'),
  import('./program-name.ts'),
]);
const [, script = '', ...argv] = process.argv;
process.exitCode = await runCommandLine(
  argv,
  { environment: process.env, stdout: process.stdout, stderr: process.stderr },
  programName(script),
);

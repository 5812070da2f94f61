import './compile-cache.js';

const EXIT_FAILED = 1;

// The reader may close the pipe early: `gatehouse validate -f . | head`.
process.stdout.on('error', () => process.exit(EXIT_FAILED));

// Loaded from here on, so that all of it comes from the cache.
const { runCommandLine } = await import('./run-command-line.ts');
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});

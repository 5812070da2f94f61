import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');

/** Where `test/support/install-fastmcp.sh` installs. */
const PYTHON = join(CACHE, 'gatehouse-fastmcp/4.1.2-1/bin/python');

/** The reason why fastmcp cannot run here; undefined if it can. */
export const noFastmcpReason = existsSync(PYTHON)
  ? undefined
  : `no fastmcp at ${PYTHON}; \`make fastmcp\` installs it where there is Python`;

/** A guard against hanging, on a busy machine too. */
const MAX_RUN_MS = 120_000;

/** What fastmcp prints where it would open a browser. A colon would separate browsers. */
const BROWSER_LINE = 'open in browser ';

/** The command line of fastmcp with a clock that is ahead by its first argument, in seconds. */
const MAIN = `
import sys, time
ahead, wall_time = float(sys.argv.pop(1)), time.time
time.time = lambda: wall_time() + ahead
from fastmcp.cli import app
app()
`;

export interface FastmcpOptions {
  /** Directory where it keeps tokens and its registration. */
  readonly home: string;
  readonly clockAheadSeconds?: number;
  /** Signs the user in at a URL, like a browser that fastmcp opens. */
  readonly signIn: (url: string) => Promise<void>;
}

/** One run of the command line of fastmcp. */
export interface FastmcpRun {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the command line of fastmcp, which is a new process each time, to its end. */
export async function runFastmcp(
  argv: readonly string[],
  { home, clockAheadSeconds = 0, signIn }: FastmcpOptions,
): Promise<FastmcpRun> {
  const child = spawn(PYTHON, ['-c', MAIN, String(clockAheadSeconds), ...argv], {
    env: {
      ...process.env,
      HOME: home,
      FASTMCP_HOME: home,
      // With a key it keeps tokens on disk. Any key: Fernet's are 32 bytes in base64url.
      FASTMCP_OAUTH_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') + '=',
      FASTMCP_CHECK_FOR_UPDATES: 'off',
      BROWSER: `echo ${BROWSER_LINE}%s`,
      NO_PROXY: 'localhost,127.0.0.1',
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_RUN_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const closed = once(child, 'close');
  try {
    for await (const line of createInterface(child.stdout)) {
      output += `${line}\n`;
      if (line.startsWith(BROWSER_LINE)) await signIn(line.slice(BROWSER_LINE.length));
    }
  } finally {
    child.kill('SIGKILL');
  }
  await closed;
  return { code: child.exitCode, output };
}

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { errorCode } from '../../shared/runtime/error-code.ts';

const PROCESS_LOG = new URL('../../shared/telemetry/process-log.ts', import.meta.url).href;
const GATEHOUSE = join(import.meta.dirname, '../../cli/gatehouse.js');

/** A process with a log on a pipe, whose reader reads only when it is told to. */
export interface LoggingProcess extends Disposable {
  /** Resolves with the next message that the process sends with `process.send`. */
  message(): Promise<unknown>;
  send(message: string): void;
  /** Resolves with the exit code. */
  readonly ended: Promise<unknown>;
  /** Reads what is in the pipe now. */
  readSome(): string;
  /** Reads until the process has ended and the pipe is empty. */
  readAll(): Promise<string>;
}

/** Starts a program that has its log as `lines`. */
export function startLogging(program: string): LoggingProcess {
  return startOnPipe(loggingArguments(program));
}

/** The arguments with which Node runs a program that has its log as `lines`. */
export function loggingArguments(program: string): readonly string[] {
  const start = `
    import { openProcessLog } from ${JSON.stringify(PROCESS_LOG)};
    const lines = openProcessLog(process.stdout);
  `;
  const options = ['--input-type=module', '--disable-warning=ExperimentalWarning'];
  return [...options, '-e', start + program];
}

/** Starts a command of `gatehouse`. */
export function startUnreadGatehouse(argv: readonly string[]): LoggingProcess {
  return startOnPipe([GATEHOUSE, ...argv]);
}

function startOnPipe(argv: readonly string[]): LoggingProcess {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const child = spawn(process.execPath, argv, { stdio: ['ignore', writer, 'ignore', 'ipc'] });
  closeSync(writer);
  const ended = once(child, 'exit').then(([code]: readonly unknown[]) => code);
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  const readSome = (): string => {
    let text = '';
    for (let part = readPart(reader); part !== ''; part = readPart(reader)) text += part;
    return text;
  };
  return {
    message: async () => ((await once(child, 'message')) as readonly unknown[])[0],
    send: (message) => void child.send(message),
    ended,
    readSome,
    async readAll() {
      let text = '';
      while (!hasEnded) {
        text += readSome();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      return text + readSome();
    },
    [Symbol.dispose]() {
      child.kill('SIGKILL');
      closeSync(reader);
      rmSync(directory, { recursive: true });
    },
  };
}

const PART = Buffer.alloc(64 * 1024);

/** Returns an empty text if the pipe is empty. */
function readPart(reader: number): string {
  try {
    return PART.toString('utf8', 0, readSync(reader, PART));
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return '';
    throw error;
  }
}

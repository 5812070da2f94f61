import { openSync, readFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { LineSink } from '../../shared/telemetry/line-writer.ts';

/** The first process of a container, whose output is the log of the container. */
const FIRST_PROCESS = '1';
const STDOUT = '1';
/** The commands whose log it is. */
const GATEWAYS: readonly string[] = ['proxy', 'run'];

/** Where the audit log of an operator's command goes. */
export interface AuditTarget {
  readonly sink: LineSink;
  /** Whether the log of this container has it, and so whoever collects that. */
  readonly isLogOfContainer: boolean;
}

/**
 * Returns the output of the gateway in whose container this process runs, or else `stderr`. The output of a
 * command that `kubectl exec` runs goes to the caller alone, and no collector of logs sees it.
 */
export function findAuditTarget(stderr: LineSink, processes = '/proc'): AuditTarget {
  const first = join(processes, FIRST_PROCESS);
  try {
    const command = readFileSync(join(first, 'cmdline'), 'utf8').split('\0');
    if (!isGateway(command)) return { sink: stderr, isLogOfContainer: false };
    // Lines are short enough for a pipe to keep each in one piece.
    const descriptor = openSync(join(first, 'fd', STDOUT), 'a');
    return { sink: { write: (text) => writeSync(descriptor, text) }, isLogOfContainer: true };
  } catch {
    // There is no such process, it is another user's, or its output is a socket.
    return { sink: stderr, isLogOfContainer: false };
  }
}

/** Elsewhere the first process is that of the machine, and its output is not a log of ours. */
function isGateway(command: readonly string[]): boolean {
  return command.some((word, index) => {
    const isProgram = basename(word).startsWith('gatehouse') || word.endsWith('cli/main.ts');
    return isProgram && GATEWAYS.includes(command[index + 1] ?? '');
  });
}

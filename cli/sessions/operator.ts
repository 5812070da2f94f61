import { userInfo } from 'node:os';
import { setImmediate } from 'node:timers/promises';

import { AuditLog, type AuditContext } from '../../proxy/telemetry/audit-log.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { findAuditTarget } from './audit-target.ts';

/** The reason in the audit log of everything that an operator ends. */
export const OPERATOR_REQUEST = 'operator-request';

/** The audit log of an operator's command. */
export interface OperatorAudit {
  readonly audit: AuditLog;
  readonly context: AuditContext;
  /** Writes what is left, and returns a line that says where the log is. */
  end(): Promise<string>;
}

/** Opens the audit log of an operator's command, before anything is done that it has to say. */
export function openOperatorAudit(
  flags: Arguments,
  { environment, stderr }: CommandStreams,
): OperatorAudit {
  // The stream itself would be ended with the log.
  const { sink, isLogOfContainer } = findAuditTarget({ write: (text) => void stderr.write(text) });
  const lines = new LineWriter(sink);
  const operator = flags.text('operator') ?? environment['SUDO_USER'] ?? userOfProcess();
  return {
    audit: new AuditLog(createLogger('audit', lines)),
    // The settings are not known here, and without them no log has an e-mail address.
    context: { operator, configuration: { settings: { authorizeLogFields: [] } } },
    end: async () => {
      // What was logged in this turn is on its way to the lines.
      await setImmediate();
      lines.end();
      return isLogOfContainer
        ? 'The log of this container has the lines of the audit log.\n'
        : 'The lines of the audit log are above: no log of a gateway could be written.\n';
    },
  };
}

function userOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    // In an image, a user is often a number only.
    return `uid ${String(process.getuid?.())}`;
  }
}

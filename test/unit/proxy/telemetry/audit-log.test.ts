import { expect, test } from '@jest/globals';

import { AuditLog, type AuditContext } from '../../../../proxy/telemetry/audit-log.ts';
import type { AuthorizeLogField } from '../../../../shared/snapshot/log-fields.ts';
import { createLogger } from '../../../../shared/telemetry/logger.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import { aDecidedRequest } from '../../../support/decided-request.ts';

const ALICE = { provider: 'idp', subject: 'alice', email: 'alice@example.com' };

/** The record of an event of Alice. */
function recordOf(
  request: AuditContext['request'],
  authorizeLogFields: readonly AuthorizeLogField[] = [],
): unknown {
  let written = '';
  const lines = new LineWriter({ write: (text) => (written += text) });
  const context = { request, configuration: { settings: { authorizeLogFields } } };
  new AuditLog(createLogger('audit', lines)).write('signed-out', context, { identity: ALICE });
  lines.flush();
  return JSON.parse(written);
}

const FRAME = {
  ...{ level: 'info', service: 'audit', time: expect.any(String), message: 'user signed out' },
  ...{ event: 'signed-out', user: 'alice', provider: 'idp' },
};

test('a record of the audit log names its request and its trace', () => {
  const trace = { context: { traceId: '0af7651916cd43dd8448eb211c80319c' } } as never;
  const { request } = aDecidedRequest({ request: { trace } });
  const ids = { 'request-id': 'r-1', 'trace-id': '0af7651916cd43dd8448eb211c80319c' };
  expect(recordOf(request)).toEqual({ ...FRAME, ...ids });
  expect(recordOf(undefined)).toEqual(FRAME);
});

test('a record of the audit log has addresses only if they are listed', () => {
  const { request } = aDecidedRequest({});
  const record = recordOf(request, ['ip', 'email']);
  expect(record).toEqual({
    ...{ ...FRAME, 'request-id': 'r-1', ip: '192.0.2.7', email: 'alice@example.com' },
  });
});

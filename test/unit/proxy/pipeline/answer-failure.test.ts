import { describe, expect, test } from '@jest/globals';

import { InvalidGrantError } from '../../../../proxy/errors/oauth-errors.ts';
import { TokenRequiredError } from '../../../../proxy/errors/authentication-errors.ts';
import { ClientGoneError } from '../../../../proxy/errors/request-errors.ts';
import {
  ForbiddenError,
  OriginNotAllowedError,
  PolicyDeniedError,
  ToolCallDeniedError,
} from '../../../../proxy/errors/denial-errors.ts';
import {
  SignInFailedError,
  SignInRequiredError,
} from '../../../../proxy/errors/authentication-errors.ts';
import { UpstreamUnreachableError } from '../../../../proxy/errors/upstream-errors.ts';
import { createFailureAnswers } from '../../../../proxy/pipeline/answer-failure.ts';
import { buildConfiguration } from '../../../support/build-configuration.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../../../shared/telemetry/logger.ts';
import { hashResource, snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

/** What is logged of an error, and what is answered. */
function fail(error: unknown): {
  readonly records: readonly Record<string, unknown>[];
  readonly status: number | undefined;
  readonly body: string | undefined;
} {
  let log = '';
  const lines = new LineWriter({ write: (text) => (log += text) });
  const answerFailure = createFailureAnswers({
    logger: createLogger('proxy', lines),
    redirectToSignIn: () => ({ status: 303, headers: {}, body: '' }),
  });
  const snapshot = snapshotOf([hashResource('settings', compiledSettings())]);
  const configuration = buildConfiguration(snapshot);
  const answer = answerFailure(error, { requestId: 'the-request', configuration });
  lines.flush();
  const written = log.split('\n').filter((line) => line !== '');
  // The log is JSON lines.
  const records = written.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { records, status: answer?.status, body: answer?.body };
}

describe('the log of failed requests', () => {
  test.each([
    ['a bad token', new TokenRequiredError('expired', { tokenWasSent: true }), 'info', 'expired'],
    ['a foreign page', new OriginNotAllowedError('null'), 'info', 'origin-not-allowed'],
    ['a bad grant', new InvalidGrantError('the code is unknown'), 'info', 'invalid-grant'],
    ['a failed sign-in', new SignInFailedError('state-unknown', 'why'), 'warn', 'state-unknown'],
    ['a dead upstream', new UpstreamUnreachableError('no'), 'warn', 'upstream-unreachable'],
  ])('names the reason of %s', (_what, error, level, reason) => {
    const { records } = fail(error);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ level, reason, 'request-id': 'the-request' });
  });

  test('names the origin that is not allowed, so that an operator can list it', () => {
    const { records } = fail(new OriginNotAllowedError('https://portal.example.com'));
    expect(records[0]?.['error']).toContain('"https://portal.example.com"');
  });

  test('says that policy denies a request only if policy does', () => {
    expect(fail(new PolicyDeniedError('groups-unauthorized')).body).toContain('by policy');
    expect(fail(new ForbiddenError('no-websockets')).body).not.toContain('policy');
    expect(fail(new OriginNotAllowedError('null')).body).not.toContain('policy');
  });

  const AS_AN_ERROR = { answeredAs: 'error', protocolVersion: undefined } as const;

  test.each([
    ['a denial by policy', new PolicyDeniedError('groups-unauthorized')],
    ['a denied tool call', new ToolCallDeniedError('denied', AS_AN_ERROR)],
    ['a first request without a token', new TokenRequiredError('no', { tokenWasSent: false })],
    ['a visitor who is not signed in', new SignInRequiredError('no cookie')],
    ['a client that left', new ClientGoneError('gone')],
  ])('does not log %s again', (_what, error) => {
    expect(fail(error).records).toStrictEqual([]);
  });

  test('has the stack of a bug, which the response does not reveal', () => {
    const { records, status, body } = fail(new TypeError('inner detail'));
    expect(records[0]).toMatchObject({ level: 'error', stack: expect.stringContaining('inner') });
    expect(status).toBe(500);
    expect(body).not.toContain('inner detail');
  });
});

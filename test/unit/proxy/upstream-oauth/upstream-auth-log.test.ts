import { expect, test } from '@jest/globals';

import { UpstreamAuthLog } from '../../../../proxy/upstream-oauth/upstream-auth-log.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';

test('the log says when users can connect, and when they cannot, at most once a minute', async () => {
  const clock = new ManualClock();
  const logger = createRecordingLogger();
  using log = new UpstreamAuthLog(logger, clock);
  log.report('team/a', { kind: 'success' });
  log.report('team/a', { kind: 'success' });
  log.report('team/a', {
    kind: 'failure',
    reason: 'upstream-auth-unavailable',
    message: 'as.example.com did not answer',
  });

  expect(logger.records).toMatchObject([
    { level: 'info', message: 'users can connect to the upstream', fields: { route: 'team/a' } },
  ]);
  await clock.advance(60_000);
  expect(logger.records.slice(1)).toMatchObject([
    {
      level: 'warn',
      message: 'users cannot connect to the upstream',
      fields: {
        route: 'team/a',
        reason: 'upstream-auth-unavailable',
        detail: 'as.example.com did not answer',
      },
    },
  ]);
});

import { describe, expect, test } from '@jest/globals';

import { PUSH_CLIENT_TIMING } from '../../../../proxy/push/connection/push-timing.ts';
import { UpstreamAuthJournal } from '../../../../proxy/push/upstream-auth-journal.ts';
import type { UpstreamAuthOutcome } from '../../../../proxy/upstream-oauth/upstream-auth-reports.ts';
import { MAX_UPSTREAM_AUTH_REPORTS } from '../../../../shared/snapshot/push-frames.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { connectedProxies } from '../../../support/push/connected-proxy.ts';

const { startConnected } = connectedProxies();

const SUCCESS: UpstreamAuthOutcome = { kind: 'success' };
const FAILURE = { reason: 'upstream-auth-not-found', message: 'no metadata' } as const;

describe('the journal of upstreams', () => {
  test('has the last outcome of each route, in the order in which they were found out', async () => {
    const clock = new ManualClock();
    const journal = new UpstreamAuthJournal(clock);
    journal.report('team/a', SUCCESS);
    journal.report('team/b', SUCCESS);
    await clock.advance(5000);
    journal.report('team/a', { kind: 'failure', ...FAILURE });
    await clock.advance(1000);
    const { reports, position } = journal.after(0);

    expect(reports).toEqual([
      { route: 'team/b', ageMs: 6000 },
      { route: 'team/a', ageMs: 1000, failure: FAILURE },
    ]);
    expect(journal.after(position)).toEqual({ reports: [], position });
    journal.report('team/b', SUCCESS);
    expect(journal.after(position).reports).toEqual([{ route: 'team/b', ageMs: 0 }]);
  });

  test('gives no more at once than a frame may have', () => {
    const journal = new UpstreamAuthJournal();
    const count = MAX_UPSTREAM_AUTH_REPORTS + 1;
    for (let index = 0; index < count; index += 1) journal.report(`team/${String(index)}`, SUCCESS);
    const first = journal.after(0);

    expect(first.reports).toHaveLength(MAX_UPSTREAM_AUTH_REPORTS);
    expect(journal.after(first.position).reports).toMatchObject([{ route: 'team/100' }]);
  });

  test('is sent with the status, news only', async () => {
    const clock = new ManualClock();
    const upstreamAuth = new UpstreamAuthJournal(clock);
    const { stream } = await startConnected({ clock, upstreamAuth });

    expect(await stream.next('status')).not.toHaveProperty('upstreamAuth');

    upstreamAuth.report('team/a', { kind: 'failure', ...FAILURE });
    await clock.advance(PUSH_CLIENT_TIMING.statusMs);

    expect(await stream.next('status')).toMatchObject({
      upstreamAuth: [{ route: 'team/a', failure: FAILURE }],
    });
    await clock.advance(PUSH_CLIENT_TIMING.statusMs);
    expect(await stream.next('status')).not.toHaveProperty('upstreamAuth');
  });

  test('is sent again to the next leader', async () => {
    const upstreamAuth = new UpstreamAuthJournal();
    upstreamAuth.report('team/a', SUCCESS);
    const { controller, stream } = await startConnected({ upstreamAuth });

    expect(await stream.next('status')).toMatchObject({ upstreamAuth: [{ route: 'team/a' }] });

    stream.end();
    const next = await controller.nextStream();
    next.accept();

    expect(await next.next('status')).toMatchObject({ upstreamAuth: [{ route: 'team/a' }] });
  });
});

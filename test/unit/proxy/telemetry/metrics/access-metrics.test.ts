import { describe, expect, test } from '@jest/globals';

import { MemoryRateLimitStore } from '../../../../../proxy/store/memory/memory-rate-limit-store.ts';
import { AUDIT_EVENTS } from '../../../../../proxy/telemetry/audit-log.ts';
import { AccessMetrics } from '../../../../../proxy/telemetry/metrics/access-metrics.ts';
import { MetricsRegistry } from '../../../../../shared/telemetry/metrics/metrics-registry.ts';
import { scrape } from '../../../../support/metrics/scrape.ts';

describe('the metrics of who is let in', () => {
  test('count what a limit refuses by the name of the limit, and not by whom it is for', async () => {
    const registry = new MetricsRegistry();
    const limits = new AccessMetrics(registry).countingLimits(new MemoryRateLimitStore(() => 0));
    const once = { limit: 1, windowSeconds: 60 };
    expect(await limits.countUse('sign-in:192.0.2.1', once)).toBe(0);
    expect(await limits.countUse('sign-in:192.0.2.2', once)).toBe(0);
    expect((await scrape(registry)).samples('gatehouse_rate_limited_total')).toEqual([]);
    expect(await limits.countUse('sign-in:192.0.2.1', once)).toBe(60);
    expect(await limits.countUse('sign-in:2001:db8::/64', once)).toBe(0);
    expect(await limits.countUse('sign-in:2001:db8::/64', once)).toBe(60);
    expect((await scrape(registry)).samples('gatehouse_rate_limited_total')).toMatchObject([
      { labels: { limit: 'sign-in' }, value: 2 },
    ]);
  });

  test('begin every event at 0, so that the first one is an increase', async () => {
    const registry = new MetricsRegistry();
    const metrics = new AccessMetrics(registry);
    const { samples, value } = await scrape(registry);
    expect(samples('gatehouse_audit_events_total').map(({ labels }) => labels['event'])).toEqual(
      AUDIT_EVENTS,
    );
    expect(value('gatehouse_audit_events_total')).toBe(0);
    metrics.countEvent('refresh-token-replayed');
    const replays = { event: 'refresh-token-replayed' };
    expect((await scrape(registry)).value('gatehouse_audit_events_total', replays)).toBe(1);
  });
});

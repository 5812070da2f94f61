import { describe, expect, test } from '@jest/globals';

import type {
  RouteVerdict,
  UpstreamAuthVerdict,
} from '../../../../controller/compile/compilation.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import type { UpstreamAuthState } from '../../../../controller/push/publication.ts';
import { routeVerdict } from '../../../support/verdicts.ts';
import { conditionsOf, messageOf, statusOf } from './route-status-cases.ts';
import { lead, makeWorld, routeStatusOf, world, type World } from './status-loop-world.ts';

const KEY = 'route/team-a/files';
const MINUTE = 60_000;
const FAILURE = { reason: 'upstream-auth-issuer-mismatch', message: 'another issuer' };

function verdictWith(
  upstreamAuth: UpstreamAuthVerdict = { configuration: 'one' },
  generation = 1,
): RouteVerdict {
  return { ...routeVerdict({ generation }), upstreamAuth };
}

function report(
  loop: { reportRoutes(verdicts: Map<string, RouteVerdict>): void },
  verdict: RouteVerdict,
): void {
  loop.reportRoutes(new Map([['team-a/files', verdict]]));
}

/** A proxy finds something out now. */
function findOut(
  { publication, clock }: Pick<World, 'publication' | 'clock'>,
  failure?: UpstreamAuthState['failure'],
  ageMs = 0,
): void {
  const at = clock.wallTime().getTime() - ageMs;
  publication.upstreams.set(KEY, { at, ...(failure && { failure }) });
}

function conditionOf(made: Pick<World, 'api'>): readonly string[] | undefined {
  return conditionsOf(routeStatusOf(made))['UpstreamAuthReady'];
}

describe('UpstreamAuthReady', () => {
  test('is absent on routes whose users do not connect', () => {
    expect(conditionsOf(statusOf({}))).not.toHaveProperty('UpstreamAuthReady');
  });

  test('is unknown before anything was tried', () => {
    expect(conditionsOf(statusOf({ verdict: verdictWith() }))).toMatchObject({
      UpstreamAuthReady: ['Unknown', 'NotTried'],
    });
  });

  test('is false without an attempt if the settings do not let discovery ask the upstream', () => {
    const verdict = verdictWith({ configuration: 'one', unlistedHost: 'mcp.example.com' });
    const status = statusOf({ verdict });

    expect(conditionsOf(status)).toMatchObject({
      UpstreamAuthReady: ['False', 'UpstreamNotListed'],
    });
    expect(messageOf(status, 'UpstreamAuthReady')).toBe(
      'Nobody can connect: mcpAllowedAsMetadataDomains of the settings does not list mcp.example.com.',
    );
    expect(conditionsOf(statusOf({ verdict: verdictWith(), current: status }))).toMatchObject({
      UpstreamAuthReady: ['Unknown', 'NotTried'],
    });
  });

  test('becomes what a proxy finds out', async () => {
    const made = await world();
    report(made.loop, verdictWith());
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['Unknown', 'NotTried']);

    findOut(made, FAILURE);
    made.loop.recheck(new Set([KEY]));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['False', 'IssuerMismatch']);
    expect(messageOf(routeStatusOf(made), 'UpstreamAuthReady')).toBe('another issuer');

    findOut(made);
    made.loop.recheck(new Set([KEY]));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['True', 'Ready']);
  });

  test('survives a change of leaders, and reports that are older than it', async () => {
    const made = await world();
    report(made.loop, verdictWith());
    findOut(made);
    await made.clock.advance(MINUTE);
    made.end.abort();
    const writes = made.writes('files').length;
    const stored = routeStatusOf(made);
    const next = made.open();
    made.publication.upstreams.clear();
    report(next, { ...verdictWith(), resource: { ...verdictWith().resource, status: stored } });
    lead(made, next);
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['True', 'Ready']);

    findOut(made, FAILURE, 10 * MINUTE);
    next.recheck(new Set([KEY]));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['True', 'Ready']);
    expect(made.writes('files')).toHaveLength(writes);

    findOut(made, FAILURE);
    next.recheck(new Set([KEY]));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['False', 'IssuerMismatch']);
  });

  test('stays while a new generation does not change the upstream OAuth, and is unknown if one does', async () => {
    const made = await world();
    report(made.loop, verdictWith());
    await made.clock.advance(1);
    findOut(made);
    made.loop.recheck(new Set([KEY]));
    await made.clock.advance(MINUTE);
    report(made.loop, verdictWith({ configuration: 'one' }, 2));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['True', 'Ready']);

    report(made.loop, verdictWith({ configuration: 'two' }, 3));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['Unknown', 'NotTried']);

    findOut(made, FAILURE);
    made.loop.recheck(new Set([KEY]));
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['False', 'IssuerMismatch']);
  });

  test('of a generation that changed while nobody led is unknown', async () => {
    const made = makeWorld();
    await made.api.create(ROUTES, 'team-a', { metadata: { name: 'files' } });
    const stored = statusOf({
      verdict: verdictWith(),
      upstreamAuth: { found: { at: 1 }, since: undefined },
      now: new Date(0),
    });
    const loop = made.open();
    report(loop, {
      ...verdictWith(undefined, 2),
      resource: { ...verdictWith(undefined, 2).resource, status: stored },
    });
    findOut(made, undefined, MINUTE);
    lead(made, loop);
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(['Unknown', 'NotTried']);
  });

  test.each([
    ['counts what was found out since the route was made', 5, ['True', 'Ready']],
    ['says nothing of an earlier route of the same name', 30, ['Unknown', 'NotTried']],
  ])('of a new route %s', async (_, ageMinutes, expected) => {
    const made = await world();
    await made.clock.advance(60 * MINUTE);
    const verdict = verdictWith();
    const tenMinutesAgo = new Date(made.clock.wallTime().getTime() - 10 * MINUTE).toISOString();
    const metadata = { ...verdict.resource.metadata, creationTimestamp: tenMinutesAgo };
    findOut(made, undefined, ageMinutes * MINUTE);
    report(made.loop, { ...verdict, resource: { ...verdict.resource, metadata } });
    await made.clock.advance(MINUTE);

    expect(conditionOf(made)).toEqual(expected);
  });
});

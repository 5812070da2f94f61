import { describe, expect, test } from '@jest/globals';

import { routeFacts, type RouteFacts } from '../../../../cli/cluster/route-facts.ts';

const NOW = Date.UTC(2026, 0, 2);
const BEFORE = '2026-01-01T00:00:00Z';
const JUST_NOW = '2026-01-01T23:59:50Z';
const TRUE = { status: 'True', reason: 'Fine', message: '', lastTransitionTime: BEFORE };
const FALSE = { status: 'False', reason: 'Bad', message: 'It is bad.', lastTransitionTime: BEFORE };
const SERVING = ['Accepted', 'ResolvedRefs', 'Programmed'].map((type) => ({ ...TRUE, type }));

function factsOf(
  status: object | undefined,
  { spec = {}, createdAt = BEFORE }: { readonly spec?: object; readonly createdAt?: string } = {},
): RouteFacts {
  const metadata = {
    ...{ name: 'app', namespace: 'shop', generation: 2 },
    creationTimestamp: createdAt,
  };
  const object = { metadata, spec: { from: 'https://app.example.com', ...spec }, status };
  return routeFacts(object, 'gatehouse', NOW);
}

function reported(...conditions: readonly object[]): object {
  return { gatewayClassName: 'gatehouse', observedGeneration: 2, conditions };
}

describe('facts of a Route', () => {
  test('a Route whose conditions are true serves', () => {
    const facts = factsOf(reported(...SERVING));

    expect(facts).toMatchObject({ state: 'serving', accepted: 'True', programmed: 'True' });
    expect(facts).not.toHaveProperty('cause');
  });

  test('the first condition that is not true is the cause', () => {
    const [accepted, ...others] = SERVING;
    const refused = { ...FALSE, type: 'Accepted', reason: 'InvalidSpec' };
    const effects = others.map((condition) => ({ ...condition, ...FALSE, type: condition.type }));

    expect(factsOf(reported(refused, ...effects))).toMatchObject({
      state: 'problem',
      cause: { reason: 'InvalidSpec', message: 'It is bad.' },
    });
    expect(factsOf(reported(accepted ?? {}, ...effects))).toMatchObject({
      cause: { reason: 'Bad' },
    });
  });

  test('a condition of the future that is false is a problem', () => {
    const facts = factsOf(reported(...SERVING, { ...FALSE, type: 'CertificatesValid' }));

    expect(facts).toMatchObject({ state: 'problem', programmed: 'True' });
  });

  test.each(['PartiallyInspected', 'ConsentExposed'])('%s is a warning', (type) => {
    expect(factsOf(reported(...SERVING, { ...TRUE, type }))).toMatchObject({
      state: 'serving',
      warnings: [{ type }],
    });
  });

  test('a Route to which nobody has connected yet serves', () => {
    const untried = { ...FALSE, type: 'UpstreamAuthReady', status: 'Unknown', reason: 'NotTried' };

    expect(factsOf(reported(...SERVING, untried)).state).toBe('serving');
  });

  test.each([
    { lastTransitionTime: JUST_NOW, state: 'pending' },
    { lastTransitionTime: BEFORE, state: 'problem' },
  ])('proxies that take their time since $lastTransitionTime: $state', (expected) => {
    const { lastTransitionTime, state } = expected;
    const programmed = { ...FALSE, type: 'Programmed', reason: 'Pending', lastTransitionTime };

    expect(factsOf(reported(...SERVING.slice(0, 2), programmed)).state).toBe(state);
  });

  test.each([
    { what: 'no status', status: undefined, createdAt: JUST_NOW, state: 'pending' },
    { what: 'no status for long', status: undefined, createdAt: BEFORE, state: 'problem' },
    {
      what: 'the status of an older generation',
      status: { ...reported(...SERVING), observedGeneration: 1 },
      createdAt: JUST_NOW,
      state: 'pending',
    },
    {
      what: 'the status of another gateway',
      status: { ...reported(...SERVING), gatewayClassName: 'other' },
      createdAt: JUST_NOW,
      state: 'pending',
    },
  ])('a Route with $what is not reported', ({ status, createdAt, state }) => {
    expect(factsOf(status, { createdAt })).toMatchObject({
      ...{ state, accepted: 'Unknown', programmed: 'Unknown' },
      cause: { reason: 'NotReported' },
    });
  });

  test.each([
    { spec: { mcp: { server: {} } }, kind: 'mcp' },
    { spec: { mcp: { client: {} } }, kind: 'application' },
    { spec: { allowPublicUnauthenticatedAccess: true }, kind: 'public' },
    { spec: { mcp: 'x' }, kind: 'web' },
  ])('a Route with $spec is of the kind $kind', ({ spec, kind }) => {
    expect(factsOf(undefined, { spec }).kind).toBe(kind);
  });

  test('reads the certificates in use, and nothing else that somebody wrote there', () => {
    const certificate = { secret: 'shop/tls', notAfter: '2026-03-01T00:00:00Z' };
    const certificates = [
      certificate,
      { secret: 'shop/tls', notAfter: 'soon' },
      'x',
      { secret: 1 },
    ];

    expect(factsOf({ ...reported(...SERVING), certificates }).certificates).toEqual([certificate]);
  });
});

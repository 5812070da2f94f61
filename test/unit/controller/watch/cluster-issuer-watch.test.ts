import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type {
  ClusterIssuer,
  ClusterIssuerReading,
} from '../../../../controller/kubernetes/cluster-issuer.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { UnusableIssuerError } from '../../../../controller/kubernetes/parse-cluster-issuer.ts';
import { ClusterIssuerWatch } from '../../../../controller/watch/cluster-issuer-watch.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../../support/redis/recording-logger.ts';

const MINUTE = 60_000;
const FORBIDDEN = new KubernetesApiError({ code: 403, reason: 'Forbidden' }, 'forbidden: no right');
const BUSY = new KubernetesApiError({ code: 503, reason: 'ServiceUnavailable' }, 'busy');

let clock: ManualClock;
let logger: RecordingLogger;
let readings: ClusterIssuerReading[];
/** The next answers of the API server; the last one stays. */
let answers: (ClusterIssuer | Error)[];
let watch: ClusterIssuerWatch;

function issuerWith(kid: string): ClusterIssuer {
  return { issuer: 'https://cluster.example', keys: [{ kty: 'RSA', kid }], apiAudiences: [] };
}

function begin(...script: readonly (ClusterIssuer | Error)[]): void {
  answers = [...script];
  watch = new ClusterIssuerWatch({
    ...{ clock, logger },
    api: {
      readIssuer: () => {
        const [answer = new Error('nothing is scripted')] = answers;
        if (answers.length > 1) answers.shift();
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
    onReading: (reading) => void readings.push(reading),
  });
}

async function hasAnswered(): Promise<boolean> {
  return Promise.race([watch.answered.then(() => true), clock.advance(0).then(() => false)]);
}

describe('the watch of the issuer of a cluster', () => {
  beforeEach(() => {
    clock = new ManualClock();
    logger = createRecordingLogger();
    readings = [];
  });
  afterEach(async () => {
    await watch[Symbol.asyncDispose]();
  });

  test('follows a rotation of keys within a minute, and reports nothing between', async () => {
    begin(issuerWith('a'), issuerWith('a'), issuerWith('b'));
    await clock.advance(MINUTE);
    expect(readings).toEqual([{ known: issuerWith('a') }]);
    await clock.advance(MINUTE);

    expect(readings.slice(1)).toEqual([{ known: issuerWith('b') }]);
  });

  test('keeps what it knows while the API server cannot be reached', async () => {
    begin(issuerWith('a'), new Error('connect ECONNREFUSED'), BUSY, issuerWith('b'));
    await clock.advance(MINUTE + 5_000);
    expect(readings).toEqual([{ known: issuerWith('a') }]);
    await clock.advance(5_000);

    expect(readings.slice(1)).toEqual([{ known: issuerWith('b') }]);
    expect(logger.messages('warn')).toEqual(['cannot read the issuer of the cluster']);
    expect(logger.messages('info')).toEqual(['the issuer of the cluster can be read again']);
  });

  test('reports that keys may be outdated, once it is refused', async () => {
    begin(issuerWith('a'), FORBIDDEN);
    await clock.advance(MINUTE);

    expect(readings.slice(1)).toEqual([{ known: issuerWith('a'), failure: 'forbidden: no right' }]);
  });

  test.each([FORBIDDEN, new UnusableIssuerError('no keys')])(
    'takes "%s" as an answer',
    async (error) => {
      begin(error);

      expect(await hasAnswered()).toBe(true);
      expect(readings).toEqual([{ failure: error.message }]);
    },
  );

  test.each([BUSY, new Error('connect ECONNREFUSED')])(
    'does not take "%s" as an answer',
    async (error) => {
      begin(error);

      expect(await hasAnswered()).toBe(false);
      expect(readings).toEqual([]);
    },
  );
});

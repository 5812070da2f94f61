import { expect, test } from '@jest/globals';

import { CertificateExpiryLog } from '../../../../cli/process/certificate-expiry-log.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const DAY = 24 * 60 * 60 * 1000;

function startLog() {
  const clock = new ManualClock();
  const logger = recordingLogger();
  const log = new CertificateExpiryLog({ clock, logger, wallTime: () => clock.wallTime() });
  const certificate = (secret: string, days: number) => {
    const now = clock.wallTime().getTime();
    const seconds = (ms: number) => Math.floor(ms / 1000);
    return { secret, notBefore: seconds(now - 90 * DAY), notAfter: seconds(now + days * DAY) };
  };
  const logged = () =>
    logger.records.map(({ message, fields }) => `${message}: ${String(fields['secret'])}`);
  return { log, clock, certificate, logged };
}

test('the end of a certificate is logged once at the start, and once when it has come', async () => {
  const { log, clock, certificate, logged } = startLog();
  const certificates = [certificate('a', 10), certificate('b', -1), certificate('c', 80)];
  log.watch(certificates);
  expect(logged()).toEqual(['a certificate expires soon: a', 'a certificate has expired: b']);
  log.watch(certificates);
  await clock.advance(9 * DAY);
  expect(logged()).toHaveLength(2);
  await clock.advance(2 * DAY);
  expect(logged().slice(2)).toEqual(['a certificate has expired: a']);
});

test('a certificate that comes near to its end without any change is logged', async () => {
  const { log, clock, certificate, logged } = startLog();
  log.watch([certificate('a', 20)]);
  expect(logged()).toEqual([]);
  await clock.advance(7 * DAY);
  expect(logged()).toEqual(['a certificate expires soon: a']);
});

test('a certificate that replaces another is logged only if it expires soon itself', async () => {
  const { log, clock, certificate, logged } = startLog();
  log.watch([certificate('a', 10)]);
  log.watch([certificate('a', 11)]);
  expect(logged()).toHaveLength(2);
  log.watch([certificate('a', 60)]);
  await clock.advance(DAY);
  expect(logged()).toHaveLength(2);
});

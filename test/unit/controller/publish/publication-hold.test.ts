import { expect, test } from '@jest/globals';

import { PublicationHold } from '../../../../controller/publish/publication-hold.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const PATIENCE_MS = 15_000;
const UNREAD = expect.stringContaining('resources that the settings refer to cannot be read');

interface HoldUnderTest {
  readonly hold: PublicationHold;
  readonly clock: ManualClock;
  readonly reasons: readonly (string | undefined)[];
  readonly messages: () => readonly string[];
}

function aHold(): HoldUnderTest {
  const clock = new ManualClock();
  const logger = recordingLogger();
  const reasons: (string | undefined)[] = [];
  const hold = new PublicationHold({
    clock,
    logger,
    patienceMs: PATIENCE_MS,
    onChange: (reason) => reasons.push(reason),
  });
  return { hold, clock, reasons, messages: () => logger.records.map(({ message }) => message) };
}

test('references that load in time are not reported', async () => {
  const { hold, clock, reasons } = aHold();
  hold.referencesLoading();
  await clock.advance(PATIENCE_MS - 1);
  hold.referencesLoaded();
  await clock.advance(PATIENCE_MS);

  expect(reasons).toEqual([]);
});

test('references that load for long are reported once, and once more when they are loaded', async () => {
  const { hold, clock, reasons, messages } = aHold();
  hold.referencesLoading();
  await clock.advance(PATIENCE_MS / 2);
  hold.referencesLoading();
  await clock.advance(PATIENCE_MS / 2);
  expect(reasons).toEqual([UNREAD]);
  hold.referencesLoaded();

  expect(reasons).toEqual([UNREAD, undefined]);
  expect(messages()).toEqual(['publication held back', 'publication resumed']);
});

test('the reason of the publisher is reported again after references have loaded', async () => {
  const { hold, clock, reasons } = aHold();
  hold.setPublisherReason('no settings');
  hold.referencesLoading();
  await clock.advance(PATIENCE_MS);
  hold.referencesLoaded();

  expect(reasons).toEqual(['no settings', UNREAD, 'no settings']);
});

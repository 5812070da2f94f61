import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  daysOfMonth,
  daysSinceEpoch,
} from '../../../../../shared/policy/operands/days-since-epoch.ts';
import { readInstant, textOfInstant } from '../../../../../shared/policy/operands/read-instant.ts';
import {
  readTimeOfDay,
  textOfTime,
} from '../../../../../shared/policy/operands/read-time-of-day.ts';
import { clockOf } from '../../../../../shared/policy/operands/time-zone.ts';

const DAY = 86_400_000;
const instant = fc.integer({ min: Date.UTC(1971, 0, 1), max: Date.UTC(2100, 0, 1) });
const timezone = fc.constantFrom(
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'],
  ...['Pacific/Apia', 'Africa/Casablanca', 'America/St_Johns'],
);

describe('days since the epoch', () => {
  test('are those of the calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (days) => {
        const date = new Date(days * DAY);
        const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];

        expect(daysSinceEpoch(year, month, date.getUTCDate())).toBe(days);
        expect(daysOfMonth(year, month)).toBe(new Date(Date.UTC(year, month, 0)).getUTCDate());
      }),
    );
  });
});

describe('the clock of a time zone', () => {
  test('shows the time of Node', () => {
    fc.assert(
      fc.property(timezone, instant, (zone, time) => {
        const shown = new Date(time).toLocaleString('en-US', {
          timeZone: zone,
          weekday: 'short',
          hourCycle: 'h23',
          hour: '2-digit',
          minute: '2-digit',
          second: '2-digit',
        });
        const { day, secondOfDay } = clockOf(zone)(time);

        const name = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][day] ?? '';
        expect(`${name} ${textOfTime(secondOfDay)}`).toBe(shown);
      }),
    );
  });

  test('reads back what it shows, or an earlier time that it shows alike', () => {
    fc.assert(
      fc.property(timezone, instant, (zone, moment) => {
        const time = moment - (moment % 1_000);
        const clock = clockOf(zone);
        const shown = new Date(clock(time).asUtc).toISOString().slice(0, 19);
        const read = readInstant(shown, zone) ?? NaN;

        expect(read).toBeLessThanOrEqual(time);
        expect(clock(read).asUtc).toBe(clock(time).asUtc);
      }),
    );
  });
});

describe('an instant', () => {
  test('with an offset is that of Node, in every time zone', () => {
    fc.assert(
      fc.property(instant, timezone, (moment, zone) => {
        const time = moment - (moment % 1_000);
        const text = new Date(time).toISOString().replace('.000', '');

        expect(readInstant(text, zone)).toBe(time);
        expect(textOfInstant(time)).toBe(`${text.replace('T', ' ').replace('Z', '')} UTC`);
      }),
    );
  });

  test.each([
    ...['2026', '2026-1-1', '2026-13-01', '2026-00-10', '2026-02-29', '2026-04-31', '2026-01-00'],
    ...['2026-01-01T', '2026-01-01T1:00', '2026-01-01T25:00', '2026-01-01T10:60', 'tomorrow'],
    ...['2026-01-01T10:00:60', '2026-01-01T10:00+0200', '2026-01-01Z', '26-01-01', ''],
  ])('is not %j', (text) => {
    expect(readInstant(text, 'UTC')).toBeUndefined();
  });
});

describe('a time of day', () => {
  test.each([
    ['0:00', 0],
    ['00:00', 0],
    ['23:59:59', 86_399],
    ['12 AM', 0],
    ['12:30am', 1_800],
    ['12PM', 43_200],
    ['1:05 pm', 47_100],
  ])('%j is read', (text, seconds) => {
    expect(readTimeOfDay(text)).toBe(seconds);
  });

  test.each(['', '9', '24:00', '9:5', '0 AM', '13:00 PM', '9:00:60', '9:60', '9:00 XM', ' 9:00'])(
    '%j is not one',
    (text) => {
      expect(readTimeOfDay(text)).toBeUndefined();
    },
  );
});

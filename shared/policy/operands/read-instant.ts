import { daysOfMonth, daysSinceEpoch } from './days-since-epoch.ts';
import { clockOf, UTC } from './time-zone.ts';

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](.+))?$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))?$/;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Reads an ISO 8601 date, with or without a time: milliseconds since the epoch. Without an offset from
 * UTC it is the time by the clocks of a time zone; the earlier one if the clocks show it twice. Undefined if
 * it is no date, or the clocks skip it.
 */
export function readInstant(text: string, timezone: string): number | undefined {
  const [, year, month, day, time = '00:00'] = DATE.exec(text) ?? [];
  const midnight =
    year === undefined ? undefined : readDay(Number(year), Number(month), Number(day));
  const parts = TIME.exec(time);
  if (midnight === undefined || parts === null) return undefined;
  const sinceMidnight = readTime(parts);
  if (sinceMidnight === undefined) return undefined;
  const byClock = midnight + sinceMidnight;
  const offset = readOffset(time, parts);
  const instant = offset === undefined ? whenClocksShow(byClock, timezone) : byClock - offset;
  return instant !== undefined && instant < YEAR_10000 ? instant : undefined;
}

/** Snapshots have no later times. */
const YEAR_10000 = 253_402_300_800_000;

function readDay(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined;
  return daysSinceEpoch(year, month, day) * DAY;
}

function readTime([, hour, minute, second = '0']: RegExpExecArray): number | undefined {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  return Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * SECOND;
}

function readOffset(
  time: string,
  [, , , , sign, hours, minutes]: RegExpExecArray,
): number | undefined {
  if (/z$/i.test(time)) return 0;
  if (sign === undefined) return undefined;
  const offset = Number(hours) * HOUR + Number(minutes) * MINUTE;
  return sign === '-' ? -offset : offset;
}

/** The offset of a time zone differs by some hours within a day, so it is one of the day before or after. */
function whenClocksShow(byClock: number, timezone: string): number | undefined {
  const clock = clockOf(timezone);
  const candidates = [byClock - DAY, byClock + DAY].map(
    (time) => byClock - (clock(time).asUtc - time),
  );
  return candidates.filter((time) => clock(time).asUtc === byClock).sort((a, b) => a - b)[0];
}

/** Returns a time as `2026-01-31 16:20:00 UTC`. For explanations, so that it may be slow. */
export function textOfInstant(time: number): string {
  const formatter = new Intl.DateTimeFormat('sv-SE', {
    timeZone: UTC,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return `${formatter.format(time)} UTC`;
}

import type { Report } from '../language/criterion-definition.ts';
import { daysSinceEpoch } from './days-since-epoch.ts';

/** The time by the clocks of some time zone. */
export interface LocalTime {
  /** 0 is Sunday. */
  readonly day: number;
  /** Seconds since midnight, by the clock. */
  readonly secondOfDay: number;
  /** What UTC would have to be to read the same, in milliseconds since the epoch. */
  readonly asUtc: number;
}

/** Returns whether a name is that of a time zone. */
function isTimezone(name: string): boolean {
  try {
    clockOf(name);
    return true;
  } catch {
    return false;
  }
}

const SECOND = 1_000;
const SECONDS_OF_MINUTE = 60;
const SECONDS_OF_HOUR = 3_600;
const SECONDS_OF_DAY = 86_400;
const DAYS_OF_WEEK = 7;
/** 1 January 1970 was a Thursday. */
const DAY_OF_EPOCH = 4;

/**
 * Returns the function that reads the clock of a time zone at a time in milliseconds since the epoch. Throws
 * if there is no such time zone.
 */
export function clockOf(timezone: string): Clock {
  const name = timezone.toLowerCase();
  const known = CLOCKS.get(name) ?? makeClock(timezone);
  CLOCKS.set(name, known);
  return known;
}

/** Shows the time of a time zone at a time in milliseconds since the epoch. */
type Clock = (time: number) => LocalTime;

/** By the name of the time zone in lower case. Attack: a thousand criteria would each have a formatter. */
const CLOCKS = new Map<string, Clock>();

function makeClock(timezone: string): Clock {
  const formatter = formatterFor(timezone);
  let lastSecond = Number.NaN;
  let last: LocalTime | undefined;
  return (time) => {
    const second = Math.floor(time / SECOND);
    if (last === undefined || second !== lastSecond) {
      last = localTime(formatter, second * SECOND);
      lastSecond = second;
    }
    return last;
  };
}

function formatterFor(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}

function localTime(formatter: Intl.DateTimeFormat, time: number): LocalTime {
  const parts = new Map(formatter.formatToParts(time).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
  const days = daysSinceEpoch(part('year'), part('month'), part('day'));
  const secondOfDay =
    part('hour') * SECONDS_OF_HOUR + part('minute') * SECONDS_OF_MINUTE + part('second');
  return {
    day: (((days + DAY_OF_EPOCH) % DAYS_OF_WEEK) + DAYS_OF_WEEK) % DAYS_OF_WEEK,
    secondOfDay,
    asUtc: (days * SECONDS_OF_DAY + secondOfDay) * SECOND,
  };
}

/** The time zone of operands that name none. */
export const UTC = 'UTC';

/** Attack: the 2,880 offsets such as `+01:00` are time zones too, and take 80 MB for their formatters. */
const NAME = /^[a-z]/i;

/** Reads the member `timezone` of an operand. Null after a report. */
export function readTimezone(value: unknown, report: Report): string | null {
  if (typeof value === 'string' && NAME.test(value) && isTimezone(value)) return value;
  return report('must be a time zone, such as UTC or Europe/Berlin', ['timezone']);
}

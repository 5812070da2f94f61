const TIME = /^(\d{1,2})(?::(\d\d)(?::(\d\d))?)?(?: ?([AP]M))?$/i;

const SECONDS_OF_MINUTE = 60;
const SECONDS_OF_HOUR = 3_600;
const NOON = 12;

/**
 * Reads a time of day such as `16:30`, `16:30:00`, `4:30 PM` or `4PM`: seconds since midnight. Undefined if
 * it is not one.
 */
export function readTimeOfDay(text: string): number | undefined {
  const [, hour, minute, second = '0', half] = TIME.exec(text) ?? [];
  if (hour === undefined || (minute === undefined && half === undefined)) return undefined;
  const hours = half === undefined ? hourOfDay(Number(hour)) : hourOfHalf(Number(hour), half);
  const minutes = Number(minute ?? 0);
  if (hours === undefined || minutes > 59 || Number(second) > 59) return undefined;
  return hours * SECONDS_OF_HOUR + minutes * SECONDS_OF_MINUTE + Number(second);
}

/** Returns a time of day as `16:30:00`. */
export function textOfTime(secondOfDay: number): string {
  const hours = Math.floor(secondOfDay / SECONDS_OF_HOUR);
  const minutes = Math.floor((secondOfDay % SECONDS_OF_HOUR) / SECONDS_OF_MINUTE);
  return [hours, minutes, secondOfDay % SECONDS_OF_MINUTE]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

function hourOfDay(hour: number): number | undefined {
  return hour > 23 ? undefined : hour;
}

/** 12 AM is midnight, and 12 PM is noon. */
function hourOfHalf(hour: number, half: string): number | undefined {
  if (hour < 1 || hour > NOON) return undefined;
  return (hour % NOON) + (half.toUpperCase() === 'PM' ? NOON : 0);
}

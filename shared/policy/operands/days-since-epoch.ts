const MONTHS = 12;
const MARCH = 3;
const DAYS_OF_YEAR = 365;
/** From 1 March of the year 0 to 1 January 1970. */
const DAYS_TO_EPOCH = 719_468;

/**
 * Returns the days from 1 January 1970 to a day of the Gregorian calendar.
 *
 * Counts years from March, so that a leap day is the last day of its year: from there, five months have
 * 153 days.
 */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const isInNextYear = month < MARCH;
  const years = isInNextYear ? year - 1 : year;
  const months = isInNextYear ? month + MONTHS - MARCH : month - MARCH;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const days = Math.floor((153 * months + 2) / 5) + day - 1;
  return years * DAYS_OF_YEAR + leapDays + days - DAYS_TO_EPOCH;
}

/** Returns how many days a month has. */
export function daysOfMonth(year: number, month: number): number {
  const next = month === MONTHS ? ([year + 1, 1] as const) : ([year, month + 1] as const);
  return daysSinceEpoch(next[0], next[1], 1) - daysSinceEpoch(year, month, 1);
}

import type {
  CriterionDefinition,
  OperandForms,
  Report,
} from '../language/criterion-definition.ts';
import { readMembers } from '../operands/read-members.ts';
import { clockOf, readTimezone, UTC } from '../operands/time-zone.ts';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const LENGTH_OF_SHORT_NAME = 3;

/** The day by the clocks of a time zone. */
export const dayOfWeek: CriterionDefinition<'day_of_week', 'days'> = {
  name: 'day_of_week',
  form: 'days',
  readOperand,
  writeOperand: ({ days, timezone }) => ({ days: days.map((day) => DAYS[day]), timezone }),
  build: ({ days, timezone }) => {
    if (days.length === 0) throw new Error('a policy has a day_of_week without days');
    const clock = clockOf(timezone);
    const listed = new Set(days);
    return {
      test: ({ time }) => listed.has(clock(time).day),
      valueOf: ({ time }) => DAYS[clock(time).day],
    };
  },
  reasons: { whenTrue: 'day-of-week-ok', whenFalse: 'day-of-week-unauthorized' },
  reads: ['time'],
  row: { looksAt: 'the [day](#times) of the request', compares: 'days such as `mon-fri`' },
};

function readOperand(value: unknown, report: Report): OperandForms['days'] | null {
  if (typeof value === 'string') {
    const days = readDays(value, report, []);
    return days && { days, timezone: UTC };
  }
  const members = readMembers(value, ['is', 'timezone'], report);
  if (members === null) return null;
  const timezone = readTimezone(members['timezone'] ?? UTC, report);
  const days = readDays(members['is'], report, ['is']);
  return timezone === null || days === null ? null : { days, timezone };
}

/** Reads `*`, or days and ranges of days: `mon-fri,sun`. A range may go over the end of a week. */
function readDays(
  value: unknown,
  report: Report,
  place: readonly string[],
): readonly number[] | null {
  if (value === '*') return DAYS.map((_, day) => day);
  const items = typeof value === 'string' ? value.split(',') : [];
  const ranges = items.map((item) => rangeOfDays(item.trim()));
  const known = ranges.filter((range) => range !== undefined);
  if (known.length === 0 || known.length < ranges.length) {
    return report('must be "*", or days such as mon-fri or sat,sunday', place);
  }
  return [...new Set(known.flat())].sort((a, b) => a - b);
}

function rangeOfDays(text: string): readonly number[] | undefined {
  const ends = text.split('-').map((name) => dayOf(name.trim()));
  const [first, last = first] = ends;
  if (first === undefined || last === undefined || ends.length > 2 || ends.includes(undefined)) {
    return undefined;
  }
  const length = ((last - first + DAYS.length) % DAYS.length) + 1;
  return Array.from({ length }, (_, index) => (first + index) % DAYS.length);
}

function dayOf(name: string): number | undefined {
  const lower = name.toLowerCase();
  const day = DAYS.findIndex(
    (known) => known === lower || known.slice(0, LENGTH_OF_SHORT_NAME) === lower,
  );
  return day === -1 ? undefined : day;
}

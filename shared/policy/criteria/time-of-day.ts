import type {
  CriterionDefinition,
  OperandForms,
  Report,
} from '../language/criterion-definition.ts';
import { readBounds, writeBounds } from '../operands/bounds.ts';
import { readMembers } from '../operands/read-members.ts';
import { readTimeOfDay, textOfTime } from '../operands/read-time-of-day.ts';
import { clockOf, readTimezone } from '../operands/time-zone.ts';

const SECONDS_OF_DAY = 86_400;

/** The time by the clocks of a time zone: from `after` on, and until before `before`. */
export const timeOfDay: CriterionDefinition<'time_of_day', 'times'> = {
  name: 'time_of_day',
  form: 'times',
  readOperand,
  writeOperand: ({ timezone, ...bounds }) => ({ ...writeBounds(bounds, textOfTime), timezone }),
  build: ({ timezone, after = 0, before = SECONDS_OF_DAY }) => {
    const clock = clockOf(timezone);
    const isOverMidnight = after > before;
    return {
      test: ({ time }) => {
        const { secondOfDay } = clock(time);
        const isAfter = secondOfDay >= after;
        const isBefore = secondOfDay < before;
        return isOverMidnight ? isAfter || isBefore : isAfter && isBefore;
      },
      valueOf: ({ time }) => textOfTime(clock(time).secondOfDay),
    };
  },
  reasons: { whenTrue: 'time-of-day-ok', whenFalse: 'time-of-day-unauthorized' },
  reads: ['time'],
  row: {
    looksAt: 'the [time of day](#times) of the request',
    compares: '`after`, `before`, `timezone`',
  },
};

function readOperand(value: unknown, report: Report): OperandForms['times'] | null {
  const members = readMembers(value, ['after', 'before', 'timezone'], report);
  if (members === null) return null;
  const timezone = readTimezone(members['timezone'], report);
  if (timezone === null) return null;
  const bounds = readBounds(members, { read: readTimeOfDay, description: TIME }, report);
  if (bounds === null) return null;
  return bounds.after === bounds.before
    ? report('must not have the same time as "after" and "before"')
    : { timezone, ...bounds };
}

const TIME = 'a time such as "16:30" or "4:30PM" (in quotes)';

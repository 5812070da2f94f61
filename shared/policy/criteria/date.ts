import type {
  CriterionDefinition,
  OperandForms,
  Report,
} from '../language/criterion-definition.ts';
import { readBounds, writeBounds } from '../operands/bounds.ts';
import { readInstant, textOfInstant } from '../operands/read-instant.ts';
import { readMembers } from '../operands/read-members.ts';
import { readTimezone, UTC } from '../operands/time-zone.ts';

/** The time of the request: from `after` on, and until before `before`. */
export const date: CriterionDefinition<'date', 'dates'> = {
  name: 'date',
  form: 'dates',
  readOperand,
  writeOperand: (bounds) => writeBounds(bounds, isoOf),
  build: ({ after = -Infinity, before = Infinity }) => ({
    test: ({ time }) => time >= after && time < before,
    valueOf: ({ time }) => textOfInstant(time),
  }),
  reasons: { whenTrue: 'date-ok', whenFalse: 'date-unauthorized' },
  reads: ['time'],
  row: { looksAt: 'the [time](#times) of the request', compares: '`after`, `before`, `timezone`' },
};

function readOperand(value: unknown, report: Report): OperandForms['dates'] | null {
  const members = readMembers(value, ['after', 'before', 'timezone'], report);
  if (members === null) return null;
  const timezone = readTimezone(members['timezone'] ?? UTC, report);
  if (timezone === null) return null;
  const read = (text: string): number | undefined => readInstant(text, timezone);
  const bounds = readBounds(members, { read, description: DATE }, report);
  if (bounds === null) return null;
  const { after = -Infinity, before = Infinity } = bounds;
  return after < before ? bounds : report('must have "after" before "before"');
}

const DATE = 'a date such as 2026-01-31T16:20:00';

function isoOf(time: number): string {
  // eslint-disable-next-line no-restricted-globals -- a date of a given time reads no clock
  return new Date(time).toISOString();
}

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { compileCriterion } from '../../../../../controller/compile/policy/compile-criterion.ts';

describe('the operand of a criterion', () => {
  test.each([
    ['source_ip: 10.0.0.0/8', { kind: 'source_ip', networks: ['10.0.0.0/8'] }],
    [
      'source_ip: [192.0.2.7, "fd00::/8"]',
      { kind: 'source_ip', networks: ['192.0.2.7', 'fd00::/8'] },
    ],
    ['cors_preflight: true', { kind: 'cors_preflight' }],
    ['date: { after: 1970-01-02 }', { kind: 'date', after: 86_400_000 }],
    [
      'date: { after: 1970-01-01T01:00:01+01:00, before: 1970-01-01T00:01Z }',
      { kind: 'date', after: 1_000, before: 60_000 },
    ],
    ['date: { before: 1970-01-01T09:00:00, timezone: Asia/Tokyo }', { kind: 'date', before: 0 }],
    // Clocks in Berlin show this time twice.
    [
      'date: { before: 2026-10-25T02:30, timezone: Europe/Berlin }',
      { kind: 'date', before: Date.parse('2026-10-25T02:30+02:00') },
    ],
    ['day_of_week: tue-fri', { kind: 'day_of_week', days: [2, 3, 4, 5], timezone: 'UTC' }],
    ['day_of_week: "Sat, SUNDAY"', { kind: 'day_of_week', days: [0, 6], timezone: 'UTC' }],
    ['day_of_week: fri-mon', { kind: 'day_of_week', days: [0, 1, 5, 6], timezone: 'UTC' }],
    ['day_of_week: "*"', { kind: 'day_of_week', days: [0, 1, 2, 3, 4, 5, 6], timezone: 'UTC' }],
    [
      'day_of_week: { is: mon, timezone: Asia/Tokyo }',
      { kind: 'day_of_week', days: [1], timezone: 'Asia/Tokyo' },
    ],
    [
      'time_of_day: { timezone: UTC, after: 2:20:00, before: 4:30PM }',
      { kind: 'time_of_day', timezone: 'UTC', after: 8_400, before: 59_400 },
    ],
    [
      'time_of_day: { timezone: Europe/Berlin, after: "12 AM", before: 12PM }',
      { kind: 'time_of_day', timezone: 'Europe/Berlin', after: 0, before: 43_200 },
    ],
    [
      'time_of_day: { timezone: UTC, after: "22:00", before: "6:00" }',
      { kind: 'time_of_day', timezone: 'UTC', after: 79_200, before: 21_600 },
    ],
    ['mcp_method: tools/list', { kind: 'mcp_method', matcher: { is: 'tools/list' } }],
    [
      'mcp_resource: { starts_with: "file:///public/" }',
      { kind: 'mcp_resource', matcher: { starts_with: 'file:///public/' } },
    ],
    ['mcp_prompt: { in: [a, b] }', { kind: 'mcp_prompt', matcher: { in: ['a', 'b'] } }],
    [
      'mcp_tool_argument/filter/0/a~1b~0c: { not_in: [x] }',
      {
        kind: 'mcp_tool_argument',
        path: ['filter', '0', 'a/b~c'],
        matcher: { not_in: ['x'] },
      },
    ],
  ])('%s is compiled', (yaml, criterion) => {
    expect(compileCriterion(parse(`{ ${yaml} }`), 'at')).toEqual({
      kind: 'made',
      value: criterion,
    });
  });

  const POINTER = 'must name an argument by its JSON pointer, such as mcp_tool_argument/database';
  const URI = 'must be written as in a URL: with characters beyond ASCII encoded';
  const NETWORK = 'must be an address or a network, such as 192.0.2.7, 10.0.0.0/8 or fd00::/8';
  const DATE = 'must be a date such as 2026-01-31T16:20:00';
  const DAYS = 'must be "*", or days such as mon-fri or sat,sunday';
  const TIME = 'must be a time such as "16:30" or "4:30PM" (in quotes)';
  const ZONE = 'must be a time zone, such as UTC or Europe/Berlin';

  test.each([
    [
      'mcp_tool_argument: a',
      `at.mcp_tool_argument: is not a known criterion; write what it looks at behind a slash, as in mcp_tool_argument/database`,
    ],
    ['mcp_tool_argument/a~b: a', `at.mcp_tool_argument/a~b: ${POINTER}`],
    ['mcp_tool_argument/a//b: a', `at.mcp_tool_argument/a//b: ${POINTER}`],
    [
      `mcp_tool_argument${'/a'.repeat(17)}: a`,
      `at.mcp_tool_argument${'/a'.repeat(17)}: must not have more than 16 names`,
    ],
    [
      `mcp_prompt: { contains: ${'a'.repeat(251)} }`,
      'at.mcp_prompt.contains: must not have more than 250 characters',
    ],
    ['mcp_resource: { contains: é }', `at.mcp_resource.contains: ${URI}`],
    ['mcp_resource: { ends_with: /é }', `at.mcp_resource.ends_with: ${URI}`],
    ['source_ip: a', `at.source_ip: ${NETWORK}`],
    ['source_ip: 10.0.0.0/33', `at.source_ip: ${NETWORK}`],
    ['source_ip: [10.0.0.1, 10.0.0]', `at.source_ip[1]: ${NETWORK}`],
    ['source_ip: []', `at.source_ip: must not be empty`],
    ['source_ip: { is: 10.0.0.1 }', `at.source_ip: ${NETWORK}`],
    ['cors_preflight: false', `at.cors_preflight: must be true`],
    ['date: 2026-01-31', `at.date: must be an object of after, before, timezone`],
    ['date: {}', `at.date: must not be empty; can have after, before, timezone`],
    ['date: { timezone: UTC }', `at.date: must have after or before`],
    ['date: { after: 2026-02-30 }', `at.date.after: ${DATE}`],
    ['date: { after: 2026-01-31T24:00 }', `at.date.after: ${DATE}`],
    ['date: { after: 2026-01-31T12:00+24:00 }', `at.date.after: ${DATE}`],
    // In UTC it is in the year 10000, which no snapshot has.
    ['date: { before: 9999-12-31T23:59:59-01:00 }', `at.date.before: ${DATE}`],
    ['date: { after: 20 }', `at.date.after: ${DATE}`],
    // Clocks in Berlin go from 2:00 to 3:00 on this day.
    ['date: { before: 2026-03-29T02:30, timezone: Europe/Berlin }', `at.date.before: ${DATE}`],
    [
      'date: { after: 2026-01-31, before: 2026-01-31 }',
      `at.date: must have "after" before "before"`,
    ],
    ['date: { since: 2026-01-31 }', `at.date.since: is not a known member`],
    ['day_of_week: mon-funday', `at.day_of_week: ${DAYS}`],
    ['day_of_week: mon-tue-wed', `at.day_of_week: ${DAYS}`],
    ['day_of_week: ""', `at.day_of_week: ${DAYS}`],
    ['day_of_week: { timezone: UTC }', `at.day_of_week.is: ${DAYS}`],
    ['day_of_week: { is: mon, timezone: Mars/Base }', `at.day_of_week.timezone: ${ZONE}`],
    ['day_of_week: { is: mon, timezone: "+01:00" }', `at.day_of_week.timezone: ${ZONE}`],
    ['time_of_day: { after: "9:00" }', `at.time_of_day.timezone: ${ZONE}`],
    ['time_of_day: { after: "9:00", timezone: Berlin }', `at.time_of_day.timezone: ${ZONE}`],
    ['time_of_day: { timezone: UTC }', `at.time_of_day: must have after or before`],
    ['time_of_day: { after: 9, timezone: UTC }', `at.time_of_day.after: ${TIME}`],
    ['time_of_day: { after: "9", timezone: UTC }', `at.time_of_day.after: ${TIME}`],
    ['time_of_day: { after: "13 PM", timezone: UTC }', `at.time_of_day.after: ${TIME}`],
    ['time_of_day: { before: "24:00", timezone: UTC }', `at.time_of_day.before: ${TIME}`],
    [
      'time_of_day: { after: "9:00", before: 9AM, timezone: UTC }',
      `at.time_of_day: must not have the same time as "after" and "before"`,
    ],
  ])('%s is invalid', (yaml, problem) => {
    const result = compileCriterion(parse(`{ ${yaml} }`), 'at');

    const problems = result.kind === 'made' ? [] : result.problems;
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([problem]);
  });
});

import { describe, expect, test } from '@jest/globals';

import type { HostOwner } from '../../../../controller/compile/routes/host-holds.ts';
import { formatHostRecord, parseHostRecord } from '../../../../controller/holds/host-record.ts';

const SINCE = Date.parse('2026-11-22T12:00:00.123Z');

describe('the record of held hosts', () => {
  test('keeps every form of host, in keys that a ConfigMap allows', () => {
    const hosts = [
      'app.example.com',
      '*.example.com',
      'localhost',
      '[fd00::1]',
      '[::1]',
      '10.0.0.1',
    ];
    const record = new Map<string, HostOwner>([
      ...hosts.map((host) => [host, { namespace: 'a', vacantSince: SINCE }] as const),
      ['waited-for.example.com', { namespace: 'b' }],
    ]);
    const { data, omitted } = formatHostRecord(record);
    expect(parseHostRecord(data)).toEqual(record);
    expect(omitted).toBe(0);
    expect(Object.keys(data).filter((key) => !/^[-._a-zA-Z0-9]+$/.test(key))).toEqual([]);
  });

  test('leaves out entries that are not its own', () => {
    const data = {
      'a.example': 'null',
      'b.example': '{',
      'c.example': '{"namespace":1}',
      'd.example': '{"namespace":"a","vacantSince":"soon"}',
      'e.example': '{"namespace":"a"}',
    };
    expect([...parseHostRecord(data)]).toEqual([['e.example', { namespace: 'a' }]]);
    expect(parseHostRecord(undefined).size).toBe(0);
  });

  test('fits into a ConfigMap, and omits hosts that are only waited for first', () => {
    const name = `${'x'.repeat(60)}.`.repeat(4);
    const record = new Map(
      Array.from({ length: 10_000 }, (_, index) => {
        const isHeld = index % 10 === 0;
        const owner = { namespace: 'a', ...(isHeld && { vacantSince: SINCE }) };
        return [`${name}${String(index)}`, owner] as const;
      }),
    );
    const { data, omitted } = formatHostRecord(record);
    expect(JSON.stringify(data).length).toBeLessThan(1024 * 1024);
    expect(omitted).toBeGreaterThan(0);
    const held = [...parseHostRecord(data).values()].filter(({ vacantSince }) => vacantSince);
    expect(held).toHaveLength(1000);
  });
});

import { describe, expect, test } from '@jest/globals';

import {
  changeSealingKeys,
  type SealingKeyWishes,
} from '../../../../cli/secrets/sealing-key-changes.ts';

const KEY = Buffer.alloc(32, 1);
const NEW_KEY = Buffer.alloc(32, 2);
const NOTHING: SealingKeyWishes = { next: undefined, current: undefined, retired: [] };

function change(names: readonly string[], wishes: Partial<SealingKeyWishes>): readonly string[] {
  const before = new Map(names.map((name) => [name, KEY]));
  const options = { today: '2026-11-23', makeKey: () => NEW_KEY };
  const { keys } = changeSealingKeys(before, { ...NOTHING, ...wishes }, options);
  return [...keys.keys()].sort();
}

describe('changeSealingKeys', () => {
  test.each([
    {
      behavior: 'makes the first key, named by the day',
      before: [],
      wishes: {},
      after: ['2026-11-23'],
    },
    {
      behavior: 'makes the first key by the name that is current',
      before: [],
      wishes: { current: '2027' },
      after: ['2027'],
    },
    { behavior: 'leaves keys alone', before: ['2026'], wishes: {}, after: ['2026'] },
    {
      behavior: 'adds the next key under a name that sorts first',
      before: ['2026'],
      wishes: { next: '2027' },
      after: ['0-2027', '2026'],
    },
    {
      behavior: 'adds the next key once',
      before: ['0-2027', '2026'],
      wishes: { next: '2027' },
      after: ['0-2027', '2026'],
    },
    {
      behavior: 'lets the next key seal',
      before: ['0-2027', '2026'],
      wishes: { next: '2027', current: '2027' },
      after: ['2026', '2027'],
    },
    {
      behavior: 'changes nothing when all is done',
      before: ['2026', '2027'],
      wishes: { next: '2027', current: '2027', retired: ['2025'] },
      after: ['2026', '2027'],
    },
    {
      behavior: 'removes a retired key',
      before: ['2026', '2027'],
      wishes: { current: '2027', retired: ['2026'] },
      after: ['2027'],
    },
  ])('$behavior', ({ before, wishes, after }) => {
    expect(change(before, wishes)).toEqual(after);
  });

  test.each([
    {
      behavior: 'a key that proxies do not know cannot seal',
      before: ['2026'],
      wishes: { current: '2027' },
      message: 'there is no sealing key 2027',
    },
    {
      behavior: 'a key that is made now cannot seal at once',
      before: ['2026'],
      wishes: { next: '2027', current: '2027' },
      message: 'there is no sealing key 2027',
    },
    {
      behavior: 'a key that does not sort last cannot seal',
      before: ['0-2025', '2026'],
      wishes: { current: '2025' },
      message: 'the sealing key 2025 cannot seal',
    },
    {
      behavior: 'the key that seals cannot be retired',
      before: ['2026', '2027'],
      wishes: { retired: ['2027'] },
      message: 'the sealing key 2027 seals',
    },
    {
      behavior: 'the last key cannot be retired',
      before: ['2026'],
      wishes: { retired: ['2026'] },
      message: 'the last sealing key',
    },
    {
      behavior: 'a name of a key cannot pretend to be a next key',
      before: ['2026'],
      wishes: { next: '0-2027' },
      message: '"0-2027" cannot name a sealing key',
    },
  ])('$behavior', ({ before, wishes, message }) => {
    expect(() => change(before, wishes)).toThrow(message);
  });

  test('keeps the content of a key whose name changes', () => {
    const before = new Map([
      ['0-2027', NEW_KEY],
      ['2026', KEY],
    ]);
    const { keys } = changeSealingKeys(
      before,
      { ...NOTHING, current: '2027' },
      { today: '2026-11-23', makeKey: () => Buffer.alloc(32, 3) },
    );

    expect(keys.get('2027')).toEqual(NEW_KEY);
    expect(keys.get('2026')).toEqual(KEY);
  });
});

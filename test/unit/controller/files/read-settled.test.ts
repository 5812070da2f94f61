import { describe, expect, test } from '@jest/globals';

import { readSettled } from '../../../../controller/files/read-settled.ts';
import { contentsOf } from './contents-of.ts';

describe('readSettled', () => {
  test.each([
    { what: 'nothing, when nothing changed', reads: ['old'], result: undefined },
    { what: 'a change that rests', reads: ['new', 'new'], result: 'new' },
    {
      what: 'the end of a file that is being written, never its empty beginning',
      reads: ['', 'ne', 'new', 'new'],
      result: 'new',
    },
    { what: 'nothing, when a change is taken back', reads: ['', 'old', 'old'], result: undefined },
    { what: 'nothing, when the files go away', reads: ['new', undefined], result: undefined },
    {
      what: 'the fifth of readings that never agree',
      reads: ['1', '2', '3', '4', '5'],
      result: '5',
    },
  ])('returns $what', async ({ reads, result }) => {
    const script = [...reads];
    const settled = await readSettled(contents('old'), {
      read: () => {
        const text = script.shift();
        return Promise.resolve(text === undefined ? undefined : contents(text));
      },
      pause: () => Promise.resolve(),
    });
    expect(settled?.files[0]?.bytes?.toString()).toBe(result);
    expect(script).toEqual([]);
  });
});

function contents(text: string): ReturnType<typeof contentsOf> {
  return contentsOf({ 'a.yaml': text });
}

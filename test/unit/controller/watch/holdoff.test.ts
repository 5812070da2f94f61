import { describe, expect, it } from '@jest/globals';

import { Holdoff } from '../../../../controller/watch/holdoff.ts';
import { eventually } from '../../../support/eventually.ts';

describe('gathering changes', () => {
  it('makes one call of many', async () => {
    let calls = 0;
    await using holdoff = new Holdoff(() => {
      calls += 1;
      return Promise.resolve();
    });
    for (let count = 0; count < 100; count += 1) holdoff.touch();
    await eventually('a call', () => calls > 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(calls).toBe(1);
  });

  it('makes it although changes never stop', async () => {
    let calls = 0;
    await using holdoff = new Holdoff(() => {
      calls += 1;
      return Promise.resolve();
    });
    const changing = setInterval(() => holdoff.touch(), 1);
    await eventually('calls', () => calls >= 3).finally(() => clearInterval(changing));
    expect(calls).toBeGreaterThanOrEqual(3);
  });

  it('never makes two at a time, and another for what came meanwhile', async () => {
    let calls = 0;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    await using holdoff = new Holdoff(async () => {
      calls += 1;
      await promise;
    });
    holdoff.touch();
    await eventually('a call', () => calls === 1);
    holdoff.touch();
    await new Promise((proceed) => setTimeout(proceed, 150));
    expect(calls).toBe(1);
    resolve(undefined);
    await eventually('the next call', () => calls === 2);
  });

  it('makes none any more once it is disposed of', async () => {
    let calls = 0;
    const holdoff = new Holdoff(() => {
      calls += 1;
      return Promise.resolve();
    });
    holdoff.touch();
    await holdoff[Symbol.asyncDispose]();
    holdoff.touch();
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(calls).toBe(0);
  });
});

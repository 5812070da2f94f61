import { describe, expect, test } from '@jest/globals';

import { describeError } from '../../../../shared/telemetry/describe-error.ts';

describe('the description of an error', () => {
  test('has its code, unless the message ends with it', () => {
    const refused = Object.assign(new Error('connect to 192.0.2.1'), { code: 'ECONNREFUSED' });
    expect(describeError(refused)).toBe('Error: connect to 192.0.2.1 (ECONNREFUSED)');
    const denied = Object.assign(new Error('refused: invalid_client'), { code: 'invalid_client' });
    expect(describeError(denied)).toBe('Error: refused: invalid_client');
  });

  test('goes on with its causes', () => {
    const error = new TypeError('outside', { cause: new Error('inside') });
    expect(describeError(error)).toBe('TypeError: outside; caused by Error: inside');
  });
});

import { describe, expect, test } from '@jest/globals';

import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../../../shared/telemetry/logger.ts';

describe('a log record', () => {
  // Attack: requests of 16 KiB that cost nothing fill the disk of the log.
  test('has at most 2,048 characters of each text', () => {
    let written = '';
    const lines = new LineWriter({ write: (text) => (written += text) });
    const fields = { short: 'a', long: 'b'.repeat(5_000), list: ['c'.repeat(5_000)] };
    createLogger('test', lines).info('refused', fields, new Error('d'.repeat(5_000)));
    lines.flush();
    expect(JSON.parse(written)).toMatchObject({
      message: 'refused',
      short: 'a',
      long: `${'b'.repeat(2_048)}...`,
      list: [`${'c'.repeat(2_048)}...`],
      error: `Error: ${'d'.repeat(2_048 - 'Error: '.length)}...`,
    });
  });

  // Attack: a name of a client that begins a line of its own where logs are read by such lines.
  test('is one line, also for those who end lines at U+0085 and U+2028', () => {
    let written = '';
    const lines = new LineWriter({ write: (text) => (written += text) });
    createLogger('test', lines).info('refused', { name: 'a\u0085{}\u2028{}' });
    lines.flush();
    expect(written.trimEnd()).toMatch(/^[ -~]*$/);
    expect(JSON.parse(written)).toMatchObject({ name: 'a\u0085{}\u2028{}' });
  });
});

import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { compilePolicy } from '../../../controller/compile/policy/compile-policy.ts';

const text = readFileSync(`${import.meta.dirname}/../../../docs/policies.md`, 'utf8');
const examples = [...text.matchAll(/```yaml\n(policy:\n.*?)```/gs)].map(([, yaml = '']) => yaml);

describe('docs/policies.md', () => {
  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  test.each(examples)('shows policies that compile (%#)', (yaml) => {
    const { policy } = parse(yaml) as { policy: unknown };

    expect(compilePolicy(policy, 'policy')).toMatchObject({ kind: 'made' });
  });
});

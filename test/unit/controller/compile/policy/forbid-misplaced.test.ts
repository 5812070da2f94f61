import { describe, expect, test } from '@jest/globals';

import { forbidMisplaced } from '../../../../../controller/compile/policy/forbid-misplaced.ts';
import { CRITERIA } from '../../../../../shared/policy/criteria.ts';
import type { CriterionDefinition } from '../../../../../shared/policy/language/criterion-definition.ts';
import type { Criterion } from '../../../../../shared/policy/policy.ts';

const DEFINITIONS: readonly Pick<CriterionDefinition, 'name' | 'onlyOn'>[] = CRITERIA;

function problemsOf(name: string, kindOfRoute: 'mcp' | 'web'): readonly string[] {
  // Only the name of a criterion matters here.
  const criterion = { kind: name } as Criterion;
  const policy = { allow: { and: [criterion] }, deny: { nor: [criterion] } };
  const result = forbidMisplaced(policy, kindOfRoute, 'spec.policy');
  return result.kind === 'made' ? [] : result.problems.map(({ path }) => path);
}

describe('a criterion', () => {
  // Attack: if `mcp` was forgotten, a deny of a tool would silently stop nothing.
  test.each(DEFINITIONS)('$name is a problem on a route where it is never true', (definition) => {
    const { name, onlyOn } = definition;
    const places = [`spec.policy.allow.and[0].${name}`, `spec.policy.deny.nor[0].${name}`];

    expect(problemsOf(name, 'web')).toEqual(onlyOn === 'mcp' ? places : []);
    expect(problemsOf(name, 'mcp')).toEqual(onlyOn === 'web' ? places : []);
  });

  test('that reads MCP messages is only for MCP routes', () => {
    const ofMcp = DEFINITIONS.filter(({ onlyOn }) => onlyOn === 'mcp').map(({ name }) => name);

    expect(ofMcp).toEqual(
      DEFINITIONS.map(({ name }) => name).filter((name) => name.startsWith('mcp_')),
    );
  });
});

import { describe, expect, test } from '@jest/globals';

import {
  buildPolicyEvaluator,
  isPermitted,
} from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { StringMatcher } from '../../../../shared/policy/language/criterion-definition.ts';
import type { Criterion, Policy } from '../../../../shared/policy/policy.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';

function permits(policy: Policy, path: string): boolean {
  return isPermitted(buildPolicyEvaluator(policy).decide(aPolicyInput({ path })));
}

const httpPath = (matcher: StringMatcher): Criterion => ({ kind: 'http_path', matcher });

describe('http_path', () => {
  test.each<[StringMatcher, string]>([
    [{ starts_with: '/admin' }, '/ADMIN/x'],
    [{ starts_with: '/admin' }, '/;x/admin/x'],
    [{ is: '/$batch' }, '/%24batch'],
    [{ ends_with: ':delete' }, '/v1/models/7%3Adelete'],
    [{ contains: '(1)' }, '/users%281%29'],
    [{ in: ['/Reports'] }, '/reports'],
  ])('in deny, %j also denies %s, which lenient upstreams read the same way', (matcher, path) => {
    const policy = { allow: { and: [{ kind: 'accept' }] }, deny: { or: [httpPath(matcher)] } };
    // The literals are criteria.
    expect(permits(policy as Policy, path)).toBe(false);
    expect(permits(policy as Policy, '/elsewhere')).toBe(true);
  });

  test.each<[StringMatcher, string]>([
    [{ not_in: ['/admin'] }, '/ADMIN'],
    [{ not_in: ['/@me'] }, '/%40me'],
  ])('in allow, %j does not allow %s', (matcher, path) => {
    const policy: Policy = { allow: { and: [httpPath(matcher)] } };
    expect(permits(policy, path)).toBe(false);
    expect(permits(policy, '/elsewhere')).toBe(true);
  });

  test('in not, a path that is denied in any reading stays denied', () => {
    const onlyPublic: Policy = {
      allow: { and: [{ kind: 'accept' }] },
      deny: { not: [httpPath({ starts_with: '/public' })] },
    };
    expect(permits(onlyPublic, '/public/x')).toBe(true);
    expect(permits(onlyPublic, '/PUBLIC/x')).toBe(false);
    expect(permits(onlyPublic, '/private')).toBe(false);
  });
});

import { expect, test } from '@jest/globals';

import { authoritiesOf } from '../../../../proxy/identity-provider/authorities-of.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';

test('the authorities of a provider are read once, and those of the system are nobody’s own', () => {
  const provider = { certificateAuthorities: createThrowawayAuthority().ca };
  const renewed = { certificateAuthorities: createThrowawayAuthority().ca };

  expect(authoritiesOf(provider)).toBeDefined();
  expect(authoritiesOf(provider)).toBe(authoritiesOf(provider));
  expect(authoritiesOf(renewed)).not.toBe(authoritiesOf(provider));
  expect(authoritiesOf({})).toBeUndefined();
});

import { test } from '@jest/globals';

import type { RequirementId } from './requirements.ts';

/**
 * A test that proves requirements: `test` with their ids in front.
 *
 * A gate fails when a requirement is cited by no test, so the ids are read from the source text:
 * write them as literals.
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  run: () => void | Promise<void>,
): void {
  test(`${title} [${[ids].flat().join(', ')}]`, run);
}

import { describe, expect, it } from '@jest/globals';

import { routeVerdict } from '../../../support/verdicts.ts';
import { conditionsOf, messageOf, statusOf } from './route-status-cases.ts';

describe('ConsentExposed', () => {
  it('says that scripts have the origin of the consent page, while they do, on an accepted route', () => {
    const status = statusOf({ verdict: { ...routeVerdict(), isConsentExposed: true } });
    expect(conditionsOf(status)).toMatchObject({
      Accepted: ['True', 'Accepted'],
      ConsentExposed: ['True', 'WebRoutesOnHost'],
    });
    expect(messageOf(status, 'ConsentExposed')).toContain('authenticateUrl');
    expect(conditionsOf(statusOf({ current: status }))).not.toHaveProperty('ConsentExposed');
  });
});

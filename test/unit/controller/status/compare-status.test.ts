import { describe, expect, it } from '@jest/globals';

import type { RouteStatus } from '../../../../controller/kubernetes/stored-resources.ts';
import { compareStatus } from '../../../../controller/status/compare-status.ts';
import { routeVerdict } from '../../../support/verdicts.ts';
import {
  LATE,
  PENDING,
  SECRET_NOT_FOUND,
  programmedBefore,
  statusOf,
} from './route-status-cases.ts';

describe('comparing statuses', () => {
  const pending = statusOf({ rollout: PENDING });

  it.each<[string, RouteStatus | undefined, RouteStatus, string]>([
    ['the same', programmedBefore, statusOf({ now: LATE }), 'none'],
    ['the first, that waits', undefined, pending, 'provisional'],
    ['the first, that serves', undefined, programmedBefore, 'final'],
    [
      'a count of proxies',
      pending,
      statusOf({ rollout: { ...PENDING, acknowledged: 1 } }),
      'detail',
    ],
    [
      'an obstacle',
      pending,
      statusOf({ rollout: PENDING, obstacle: 'most routes are gone' }),
      'provisional',
    ],
    [
      'another reason to hold publication back',
      statusOf({ obstacle: 'most routes are gone' }),
      statusOf({ obstacle: 'the settings are not valid' }),
      'provisional',
    ],
    [
      'conditions in another order, and one of somebody else',
      {
        ...programmedBefore,
        conditions: [
          {
            type: 'Probed',
            status: 'True',
            reason: 'Probed',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
          ...(programmedBefore.conditions ?? []).toReversed(),
        ],
      },
      programmedBefore,
      'none',
    ],
    [
      'a condition that is over',
      statusOf({
        verdict: routeVerdict({ problems: [SECRET_NOT_FOUND], servedGeneration: 1 }),
      }),
      programmedBefore,
      'final',
    ],
  ])('%s', (_, current, wanted, difference) => {
    expect(compareStatus(current, wanted)).toBe(difference);
  });
});

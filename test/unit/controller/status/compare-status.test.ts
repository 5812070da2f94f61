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

describe('comparing a status with the wanted one', () => {
  const pending = statusOf({ rollout: PENDING });

  it.each<[string, RouteStatus | undefined, RouteStatus, string]>([
    ['equal statuses', programmedBefore, statusOf({ now: LATE }), 'none'],
    ['a first status that is pending', undefined, pending, 'provisional'],
    ['a first status that is programmed', undefined, programmedBefore, 'final'],
    [
      'the count of proxies',
      pending,
      statusOf({ rollout: { ...PENDING, acknowledged: 1 } }),
      'detail',
    ],
    [
      'an obstacle that appears',
      pending,
      statusOf({ rollout: PENDING, obstacle: 'most routes are gone' }),
      'provisional',
    ],
    [
      'the reason why publication is held back',
      statusOf({ obstacle: 'most routes are gone' }),
      statusOf({ obstacle: 'the settings are not valid' }),
      'provisional',
    ],
    [
      'the order of conditions, and a condition of another controller',
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
      'a condition that is removed',
      statusOf({
        verdict: routeVerdict({ problems: [SECRET_NOT_FOUND], servedGeneration: 1 }),
      }),
      programmedBefore,
      'final',
    ],
  ])('classifies %s', (_, current, wanted, difference) => {
    expect(compareStatus(current, wanted)).toBe(difference);
  });
});

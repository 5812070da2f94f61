import { describe, expect, test } from '@jest/globals';

import type { RouteStatus } from '../../../../controller/kubernetes/stored-resources.ts';
import { eventsOfChange } from '../../../../controller/status/events-of-change.ts';
import { routeVerdict } from '../../../support/verdicts.ts';
import { conditionsOf, messageOf, statusOf } from './route-status-cases.ts';

const DAY = 24 * 60 * 60;
const NOW = Date.parse('2026-11-21T10:00:00Z') / 1000;
const SECRET = 'team-a/app-tls';

/** The status of a route whose certificate expires in so many days, of so many that it lives. */
function statusWith(daysLeft: number, life = 90): RouteStatus {
  const notAfter = NOW + daysLeft * DAY;
  const certificates = [{ secret: SECRET, notBefore: notAfter - life * DAY, notAfter }];
  const verdict = { ...routeVerdict(), certificates };
  return statusOf({ verdict, now: new Date(NOW * 1000) });
}

function eventsBetween(before: number, after: number): readonly string[] {
  const events = eventsOfChange(statusWith(before), statusWith(after));
  return events.map(({ type, reason }) => `${type} ${reason}`);
}

describe('the condition CertificatesValid', () => {
  test('is absent from a route without certificates', () => {
    expect(conditionsOf(statusOf({}))['CertificatesValid']).toBeUndefined();
    expect(statusOf({}).certificates).toBeUndefined();
  });

  test.each([
    [60, 90, 'True', 'CertificatesValid'],
    [14.1, 90, 'True', 'CertificatesValid'],
    [13.9, 90, 'False', 'CertificateExpiresSoon'],
    // A certificate that lives for six days is renewed every four.
    [2, 6, 'True', 'CertificatesValid'],
    [0.9, 6, 'False', 'CertificateExpiresSoon'],
    [0, 90, 'False', 'CertificateExpired'],
    [-100, 90, 'False', 'CertificateExpired'],
  ])('with %d of the days left, of %d, is %s: %s', (left, life, status, reason) => {
    expect(conditionsOf(statusWith(left, life))['CertificatesValid']).toEqual([status, reason]);
  });

  test('names the Secret and the time, and that an expired certificate is served', () => {
    const status = statusWith(-1);

    expect(messageOf(status, 'CertificatesValid')).toBe(
      'The certificate in Secret team-a/app-tls expired on 2026-11-20T10:00:00Z; clients refuse it, and it is served all the same.',
    );
    expect(status.certificates).toEqual([{ secret: SECRET, notAfter: '2026-11-20T10:00:00Z' }]);
  });
});

describe('Events about certificates', () => {
  test('are written once when the end is near, once when it has come, and when it is renewed', () => {
    expect(eventsBetween(20, 13)).toEqual(['Warning CertificateExpiresSoon']);
    expect(eventsBetween(13, 12)).toEqual([]);
    expect(eventsBetween(1, -1)).toEqual(['Warning CertificateExpired']);
    expect(eventsBetween(-1, -2)).toEqual([]);
    expect(eventsBetween(-2, 90)).toEqual(['Normal CertificatesValid']);
  });

  test('are written for a route that is given a certificate which expires soon', () => {
    const events = eventsOfChange(statusOf({}), statusWith(3));

    expect(events).toMatchObject([{ type: 'Warning', reason: 'CertificateExpiresSoon' }]);
  });
});

describe('Events about references', () => {
  const problem = {
    path: 'spec.backendRefs[0]',
    reason: 'BackendNotFound',
    message: 'there is no Service team-a/files',
  } as const;
  const whole = statusOf({});
  const broken = statusOf({ verdict: routeVerdict({ problems: [problem], isAccepted: true }) });

  test('are written when a route that serves loses what it refers to, and has it again', () => {
    expect(eventsOfChange(whole, broken)).toEqual([
      {
        type: 'Warning',
        reason: 'BackendNotFound',
        message: expect.stringContaining('there is no Service team-a/files'),
      },
    ]);
    expect(eventsOfChange(broken, broken)).toEqual([]);
    expect(eventsOfChange(broken, whole)).toMatchObject([
      { type: 'Normal', reason: 'ResolvedRefs' },
    ]);
  });

  test('name another reference that fails while the first still does', () => {
    const second = {
      path: 'spec.tls.certificateRefs[0]',
      reason: 'SecretNotFound',
      message: 'there is no Secret team-a/tls',
    } as const;
    const worse = statusOf({
      verdict: routeVerdict({ problems: [problem, second], isAccepted: true }),
    });

    expect(eventsOfChange(broken, worse)).toEqual([
      {
        type: 'Warning',
        reason: 'BackendNotFound',
        message: expect.stringContaining('there is no Secret team-a/tls'),
      },
    ]);
    expect(eventsOfChange(worse, broken)).toMatchObject([
      { type: 'Warning', message: expect.not.stringContaining('team-a/tls') },
    ]);
  });

  test('are not written beside the Event that a generation cannot be used', () => {
    const invalid = statusOf({ verdict: routeVerdict({ isAccepted: false, problems: [problem] }) });

    expect(eventsOfChange(whole, invalid)).toMatchObject([{ reason: 'BackendNotFound' }]);
    expect(eventsOfChange(invalid, whole)).toMatchObject([{ reason: 'Accepted' }]);
  });
});

import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';

import { PATHS } from '../endpoints/paths.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import {
  AuthorizationPageError,
  ClientIdDomainNotAllowedError,
} from '../errors/authorization-page-errors.ts';
import { ConnectionPageError } from '../errors/connection-errors.ts';
import { describePublicly, statusOf } from '../errors/public-view.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { html } from '../http/html.ts';
import { page, type Page } from './layout.ts';
import { requestIdNote } from './request-id-note.ts';

/** Shows an error to a person, with the request ID. */
export function errorPage(
  error: unknown,
  requestId: string,
  headers: OutgoingHttpHeaders,
): GatewayResponse {
  const { title, content } = explain(error);
  const body = html` ${content} ${requestIdNote(requestId)} `;
  return page(statusOf(error), { title, content: body }, headers);
}

function explain(error: unknown): Page {
  if (error instanceof ClientIdDomainNotAllowedError) return explainDomain(error);
  if (error instanceof AuthorizationPageError) {
    return {
      title: 'This authorization request cannot be answered',
      content: html`<p>${error.explanation}</p>`,
    };
  }
  if (error instanceof ConnectionPageError) return explainConnection(error);
  if (error instanceof SignInFailedError) return explainSignIn(error);
  const description = describePublicly(error);
  return {
    title: STATUS_CODES[statusOf(error)] ?? 'Error',
    content: html`<p>${description.charAt(0).toUpperCase() + description.slice(1)}.</p>`,
  };
}

function explainDomain({ explanation, clientId }: ClientIdDomainNotAllowedError): Page {
  return {
    title: 'This client is not allowed',
    content: html`<p>${explanation}</p>
      <dl>
        <dt>Client ID</dt>
        <dd><code>${clientId}</code></dd>
      </dl>`,
  };
}

function explainConnection({ explanation, offersSignOut }: ConnectionPageError): Page {
  return {
    title: 'This server cannot be connected here',
    content: html`<p>${explanation}</p>
      ${offersSignOut ? SWITCH_USER : undefined}`,
  };
}

const SWITCH_USER = html`<p>
    To go on as another user, sign out, and open the link again or start again from your
    application.
  </p>
  <p><a class="button" href="${PATHS.signOut}">Sign out</a></p>`;

function explainSignIn({
  status,
  advice = SIGN_IN_ADVICE[status],
  startAgainUrl = PATHS.signIn,
}: SignInFailedError): Page {
  return {
    title: 'Signing in did not work',
    content: html`<p>${advice}</p>
      <p><a class="button" href="${startAgainUrl}">Try again</a></p>`,
  };
}

const SIGN_IN_ADVICE = {
  400: 'This sign-in has expired, was used already, or was not started in this browser.',
  403: 'The identity provider did not let you in.',
  500: 'The gateway failed to sign you in. If this goes on, give the request ID to your administrator.',
  502: 'The identity provider could not be used. If this goes on, give the request ID to your administrator.',
} as const;

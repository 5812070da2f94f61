/** The required members of an identity provider, for a YAML mapping. */
export const PROVIDER = 'name: idp, issuerUrl: https://idp.example.com, clientId: gatehouse';

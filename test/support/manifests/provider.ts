/** The members of an identity provider that must be there, for a YAML mapping. */
export const PROVIDER = 'name: idp, issuerUrl: https://idp.example.com, clientId: gatehouse';

import type { catalogue as english } from './en-catalogue.ts';
import { plural } from './plural.ts';

const CONVERSATION = 'Die Konversation.';

/** Was Ereignistypen, Protokoll und erste Schritte sagen, auf Deutsch. */
export const catalogue: typeof english = {
  eventTypes: {
    title: 'Ereignistypen',
    about: 'Was ein Endpunkt erhalten kann: der Payload jedes Ereignisses und wer es erhält.',
    translated: {
      envelope: {
        type: 'Ereignistyp. Typen kommen ohne Ankündigung hinzu: Beantworten Sie unbekannte mit 2xx.',
        schemaVersion: 'Version des Aufbaus von `data`.',
        orgId: 'Die Organisation.',
        createdAt: 'Zeit des Ereignisses, UTC.',
        data: 'Daten des Ereignisses: diese Felder und keine anderen.',
      },
      types: {
        'conversation.created': {
          description: 'Eine neue Konversation hat begonnen.',
          data: {
            conversationId: CONVERSATION,
            channelId: 'Der Kanal der Konversation.',
            externalUserId: 'Die Person, wie Sie sie benennen.',
          },
        },
        'message.received': {
          description:
            'In einer Konversation wurde eine Nachricht aufgezeichnet, gleich von welcher Rolle, auch von Ihrem eigenen Assistenten. Der Text ist nicht im Ereignis; lesen Sie die Nachricht mit `messageId`.',
          data: {
            conversationId: CONVERSATION,
            messageId: 'Die Nachricht. Ihren Text liefert die API.',
            role: 'Rolle des Verfassers.',
          },
        },
        'handoff.requested': {
          description: 'Eine Konversation wurde an einen Menschen übergeben.',
          data: {
            conversationId: CONVERSATION,
            escalationLogId: 'Der Eintrag der Übergabe.',
            reason: 'Der Grund; fehlt, wenn keiner angegeben wurde.',
          },
        },
        'ticket.created': {
          description: 'Ein Ticket wurde angelegt, mit oder ohne Konversation.',
          data: {
            ticketId: 'Das Ticket.',
            conversationId: 'Die Konversation, die dazu führte; fehlt, wenn es keine gibt.',
            reason: 'Worum es geht; fehlt, wenn es nicht angegeben wurde.',
          },
        },
        'conversation.resolved': {
          description:
            'Eine Konversation wurde abgeschlossen. Erneutes Abschließen löst kein Ereignis aus. Eine Nachricht öffnet sie wieder, danach kann sie erneut abgeschlossen werden.',
          data: {
            conversationId: CONVERSATION,
            resolvedBy: 'Wer sie abschloss; `api`, wenn die Anfrage niemanden nannte.',
          },
        },
        'conversation.deleted': {
          description:
            'Eine Konversation wurde mit ihren Nachrichten gelöscht, auf Anfrage oder wegen `retentionDays`. Löschen Sie, was Sie von ihr gespeichert haben; eine 2xx-Antwort bestätigt das Ereignis in der Quittung der Löschung.',
          data: { conversationId: 'Die Konversation, die nicht mehr gelesen werden kann.' },
        },
        'webhook.failing': {
          description:
            'Fünf Zustellungen hintereinander an einen anderen Endpunkt der Organisation sind gescheitert. Fünf weitere schalten ihn ab. Der betroffene Endpunkt erhält es nie.',
          data: { webhookId: 'Der betroffene Endpunkt.' },
        },
        'webhook.disabled': {
          description:
            'Zehn Zustellungen hintereinander an einen anderen Endpunkt der Organisation sind gescheitert, was ihn abgeschaltet hat. Der betroffene Endpunkt erhält es nie.',
          data: { webhookId: 'Der betroffene Endpunkt.' },
        },
        'webhook.recovered': {
          description:
            'Eine Zustellung an einen anderen Endpunkt der Organisation ist nach mindestens fünf Fehlschlägen hintereinander gelungen. Der betroffene Endpunkt erhält es nie.',
          data: { webhookId: 'Der betroffene Endpunkt.' },
        },
        'webhook.test': {
          description:
            'Wird bei einem Test an einen einzigen Endpunkt gesendet, unabhängig davon, was dieser abonniert hat. Signiert, wiederholt und aufgezeichnet wie jedes andere Ereignis.',
          data: { webhookId: 'Der getestete Endpunkt.' },
        },
        'channel.test': {
          description:
            'Wird bei einem Test an einen einzigen Kanal der Art `http` gesendet. Signiert, wiederholt und aufgezeichnet wie jedes andere Ereignis.',
          data: { channelId: 'Der getestete Kanal.' },
        },
        'channel.message': {
          description:
            'Ein Mitarbeiter oder der Assistent hat in einer Konversation des Kanals geschrieben. Nur Kanäle der Art `http` erhalten es; Endpunkte können es nicht abonnieren.',
          data: {
            channelId: 'Der Kanal, der es erhält.',
            conversationId: CONVERSATION,
            messageId: 'Die Nachricht.',
            externalUserId: 'Die Person, mit der die Konversation geführt wird.',
            role: 'Rolle des Verfassers.',
            content: 'Text der Nachricht.',
          },
        },
      },
    },
    receivers: 'Empfänger',
    endpoints: (count) =>
      count === 0 ? 'Kein Endpunkt' : `${count} ${plural(count, 'Endpunkt', 'Endpunkte')}`,
    toTested: 'Der getestete Endpunkt',
    toTestedAbout: 'Nur der Endpunkt, der getestet wird. Er lässt sich nicht abonnieren.',
    toChannelsAbout: 'Nur Kanäle der Art http. Endpunkte können ihn nicht abonnieren.',
    noReceivers: 'Kein Endpunkt hat diesen Typ abonniert.',
    back: 'Alle Ereignistypen',
    optional: 'nicht immer vorhanden',
    example: 'Beispiel',
    payload: 'Beispiel-Payload',
    exampleAbout: 'Der Body einer Anfrage. Die Signatur steht in ihren Headern.',
    send: 'Beispiel senden',
    sendMembers: 'Ein Admin der Organisation kann ein Beispiel senden.',
    sendTitle: (type) => `Beispiel von ${type} senden`,
    sendAbout:
      'Nur der gewählte Endpunkt erhält es, signiert und wiederholt wie ein echtes Ereignis. Der Header webhook-example kennzeichnet es, und seine IDs gehören zu nichts.',
    sendTestAbout: 'Nur der gewählte Endpunkt erhält es, signiert und wiederholt wie ein echtes Ereignis.',
    sendAction: 'Senden',
    sending: (type) => `Ein Beispiel von ${type} wird gesendet …`,
    noTargets:
      'Kein aktiver Endpunkt empfängt dieses Ereignis. Fügen Sie zuerst einen hinzu, oder einem Endpunkt den Typ.',
  },

  audit: {
    title: 'Protokoll',
    about: 'Wer die Einrichtung der Organisation geändert hat, in den letzten 400 Tagen.',
    adminsTitle: 'Nur Admins sehen das Protokoll',
    adminsAbout: 'Fragen Sie einen Admin der Organisation, wer etwas geändert hat.',
    times: {
      any: 'Alle 400 Tage',
      today: 'Heute',
      yesterday: 'Gestern',
      week: 'Letzte 7 Tage',
      month: 'Letzte 30 Tage',
      custom: 'Andere Tage …',
    },
    from: 'Erster Tag',
    to: 'Letzter Tag',
    actor: 'Geändert von',
    anyActor: 'Allen',
    me: 'Mir',
    actorTypes: {
      user: 'Benutzern des Dashboards',
      api_key: 'API-Schlüsseln',
      service: 'Dem Dienst',
      operator: 'Dem Betreiber des Dienstes',
    },
    byKey: 'Ein API-Schlüssel',
    byNamedKey: (name) => `API-Schlüssel „${name}“`,
    byActor: { service: 'Der Dienst', operator: 'Der Betreiber' },
    onlyThisActor: 'Nur diese Änderungen zeigen',
    action: 'Änderung',
    anyAction: 'Alle Änderungen',
    actions: {
      'webhook.created': 'Endpunkt hinzugefügt',
      'webhook.updated': 'Endpunkt geändert',
      'webhook.deleted': 'Endpunkt gelöscht',
      'webhook.disabled': 'Endpunkt abgeschaltet',
      'webhook.enabled': 'Endpunkt eingeschaltet',
      'redelivery.started': 'Erneutes Senden begonnen',
      'redelivery.stopped': 'Erneutes Senden angehalten',
      'channel.created': 'Kanal erstellt',
      'channel.updated': 'Kanal geändert',
      'channel.deleted': 'Kanal gelöscht',
      'channel.disabled': 'Kanal abgeschaltet',
      'channel.enabled': 'Kanal eingeschaltet',
      'erasure.created': 'Konversationen gelöscht',
      'source.created': 'Inhaltsquelle hinzugefügt',
      'source.deleted': 'Inhaltsquelle gelöscht',
      'api_key.created': 'API-Schlüssel erstellt',
      'api_key.revoked': 'API-Schlüssel widerrufen',
      'organization.created': 'Organisation angelegt',
      'organization.updated': 'Einstellungen geändert',
      'sandbox.provisioned': 'Sandbox erstellt',
      'sandbox.reset': 'Sandbox zurückgesetzt',
    },
    today: (date) => `Heute, ${date}`,
    yesterday: (date) => `Gestern, ${date}`,
    noChanges: 'Zu dieser Änderung gibt es keine Felder.',
    before: 'Vorher',
    after: 'Nachher',
    noValue: 'Kein Wert',
    when: 'Zeit',
    target: 'Geändertes Objekt',
    end: 'Keine älteren Einträge.',
    emptyTitle: 'Noch keine Änderungen',
    emptyAbout:
      'Hier erscheinen Änderungen an Endpunkten, API-Schlüsseln, Inhaltsquellen, Einstellungen und der Sandbox.',
    noMatch: 'Keine Änderung entspricht diesen Filtern',
    noMatchAbout: 'Wählen Sie einen anderen Zeitraum, oder entfernen Sie einen Filter.',
  },
  keyCreator: {
    by: 'von',
    byOthers: { api_key: 'von einem API-Schlüssel', service: 'vom Dienst', operator: 'vom Betreiber' },
    unknown: 'Ersteller nicht aufgezeichnet',
    gone: 'Kein Schlüssel hat die ID in der URL.',
  },

  firstSteps: {
    title: 'Erste Schritte',
    progress: (done, all) => `${done} von ${all} erledigt`,
    done: 'Erledigt',
    open: 'Offen',
    dismiss: 'Ausblenden',
    left: 'Schritte anzeigen',
    membersAbout: 'Ein Admin der Organisation erledigt diese Schritte.',
    endpoint: {
      title: 'Endpunkt hinzufügen',
      about: 'Eine URL Ihrer Anwendung, die Ihre Ereignisse erhält.',
      action: 'Endpunkt hinzufügen',
    },
    test: {
      title: 'Testereignis senden',
      about: 'Der Endpunkt muss mit einem Status 2xx antworten.',
      action: 'Testereignis senden',
    },
    verify: {
      title: 'Signatur verifizieren',
      about:
        'Weisen Sie Anfragen ab, die sich nicht verifizieren lassen. Der Dienst kann das nicht sehen: Bestätigen Sie es, wenn es so weit ist.',
      action: 'Code zeigen',
      confirm: 'Mein Empfänger verifiziert Signaturen',
    },
    live: {
      title: 'Live gehen',
      about:
        'Erstellen Sie einen API-Schlüssel, und beginnen Sie damit eine Konversation. Ihr erstes Ereignis kommt an Ihrem Endpunkt an.',
      action: 'API-Schlüssel erstellen',
    },
  },
};

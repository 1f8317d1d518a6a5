package main

import (
	"encoding/json"
	"log"
)

type event struct {
	id   string
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

type messageReceived struct {
	ConversationID string `json:"conversationId"`
	MessageID      string `json:"messageId"`
	Role           string `json:"role"`
}

type handoffRequested struct {
	ConversationID string `json:"conversationId"`
	Reason         string `json:"reason"`
}

func parseEvent(id string, body []byte) (event, error) {
	e := event{id: id}
	return e, json.Unmarshal(body, &e)
}

func process(e event) {
	switch e.Type {
	case "message.received":
		if data, ok := parseData[messageReceived](e); ok {
			log.Printf("Message %s by %s", data.MessageID, data.Role)
		}
	case "handoff.requested":
		if data, ok := parseData[handoffRequested](e); ok {
			log.Printf("Handoff of conversation %s", data.ConversationID)
		}
	default: // New types are added without notice: ignore those that you do not use.
	}
	log.Printf("Processed %s %s", e.id, e.Type)
}

func parseData[T any](e event) (data T, ok bool) {
	if err := json.Unmarshal(e.Data, &data); err != nil {
		log.Printf("The data of %s is not that of %s", e.id, e.Type)
		return data, false
	}
	return data, true
}
